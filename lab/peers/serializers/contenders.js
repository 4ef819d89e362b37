// The contenders by name. Each is made by a function, so that a process loads what it measures and nothing else.
'use strict';
const path = require('path');

// moleculer drives one of Moleculer's serializers with a RES packet whose data is the value, as Moleculer's transit does: a new
// packet for each message, since the serializers with a schema change the packet that they are given.
function moleculer(name) {
  const { ServiceBroker, Serializers } = require('moleculer');
  // By its path, since the package does not export it.
  const { Packet, PACKET_RESPONSE } = require(path.join(path.dirname(require.resolve('moleculer')), 'src', 'packets.js'));
  const serializer = new Serializers[name]();
  serializer.init(new ServiceBroker({ logger: false }));
  return {
    encode(value) {
      const packet = new Packet(PACKET_RESPONSE, 'node-101', {
        ver: '4',
        sender: 'node-100',
        id: '5f9a6c1e-27d0-4b1c-9f43-8c7b0a1d2e3f',
        meta: {},
        success: true,
        data: value,
      });
      return serializer.serialize(packet.payload, packet.type);
    },
    decode: data => serializer.deserialize(data, PACKET_RESPONSE),
    answer: ({ ver, sender, id, meta, success, data }) => ({ ver, sender, id, meta, success, data }),
  };
}

const itself = value => value;

exports.contenders = {
  'hessian.js'() {
    const hessian = require('hessian.js');
    return { encode: value => hessian.encode(value, '2.0'), decode: data => hessian.decode(data, '2.0'), answer: itself };
  },
  // v4 is the Hessian 2 that Caucho's library 4 speaks; without it sofa-hessian-node writes the draft of it.
  'sofa-hessian-node'() {
    const { v4 } = require('sofa-hessian-node');
    return { encode: value => v4.encode(value, '2.0'), decode: data => v4.decode(data, '2.0'), answer: itself };
  },
  // A message is bytes, as it is for the others.
  'JSON in Node'() {
    return { encode: value => Buffer.from(JSON.stringify(value)), decode: data => JSON.parse(data), answer: itself };
  },
};

for (const name of ['JSON', 'Avro', 'MsgPack', 'Notepack', 'ProtoBuf', 'Thrift', 'CBOR']) {
  exports.contenders[`Moleculer ${name}`] = () => moleculer(name);
}
