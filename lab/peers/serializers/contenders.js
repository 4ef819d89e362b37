// The contenders by name. Each is made by a function, so that a process loads what it measures and nothing else.
'use strict';
const path = require('path');

const ID = '5f9a6c1e-27d0-4b1c-9f43-8c7b0a1d2e3f';

// fields are what a RES packet has around the value.
const fields = value => ({ ver: '4', sender: 'node-100', id: ID, meta: {}, success: true, data: value });

// moleculer drives one of Moleculer's serializers with a RES packet whose data is the value, as Moleculer's transit does: a new
// packet for each message, since the serializers with a schema change the packet that they are given.
function moleculer(name) {
  const { ServiceBroker, Serializers } = require('moleculer');
  // By its path, since the package does not export it.
  const { Packet, PACKET_RESPONSE } = require(path.join(path.dirname(require.resolve('moleculer')), 'src', 'packets.js'));
  const serializer = new Serializers[name]();
  serializer.init(new ServiceBroker({ logger: false }));
  return {
    packet: fields,
    encode(value) {
      const packet = new Packet(PACKET_RESPONSE, 'node-101', fields(value));
      return serializer.serialize(packet.payload, packet.type);
    },
    decode: data => serializer.deserialize(data, PACKET_RESPONSE),
    answer: ({ ver, sender, id, meta, success, data }) => ({ ver, sender, id, meta, success, data }),
  };
}

exports.ID = ID;
exports.contenders = {};
for (const name of ['JSON', 'Avro', 'MsgPack', 'Notepack', 'ProtoBuf', 'Thrift', 'CBOR']) {
  exports.contenders[name] = () => moleculer(name);
}
