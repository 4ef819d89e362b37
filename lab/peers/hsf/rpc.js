'use strict';

// The benchmark's service over sofa-rpc-node: with its own protocol, Bolt, or with Dubbo's by dubbo-remoting, which is the
// order's row. The order's Work is the method, its Size the connections.

const assert = require('node:assert');
const { RpcServer } = require('sofa-rpc-node').server;
const { RpcClient } = require('sofa-rpc-node').client;
const { main, closed } = require('./child');

const protocols = { bolt: () => require('sofa-bolt-node'), dubbo: () => require('dubbo-remoting') };
const interfaceName = 'lab.Benchmark';
const silent = { info() {}, warn() {}, error() {}, debug() {}, log() {} };

const parsed = () => ({
  string: 'hello world',
  number: 1024.1,
  boolean: true,
  array: ['hello', 1024.12, true, { foo: 'bar' }, [1, 2, 3]],
  obj: { string: 'hello', boolean: true, array: ['hello', 'world'], number: 1024.123, obj: { foo: 'bar' } },
});

const service = {
  async ping() { return 'echo'; },
  async noError() { return 'ok'; },
  async parse(s, a, b) {
    assert.deepStrictEqual([s, a, b], ['s', 1, 2]);
    return parsed();
  },
  // An error of another tick, caught there as a domain would.
  async asyncError() {
    await new Promise((_, reject) => {
      process.nextTick(() => reject(new Error('async is not defined')));
    });
  },
};

const text = (want) => (reply) => {
  if (reply !== want) throw new Error(`the answer is ${reply}, not ${want}`);
};

const checks = {
  ping: text('echo'),
  noError: text('ok'),
  parse(reply, full) {
    if (reply.string.length !== 11 || reply.array.length !== 5) throw new Error('the object has not the shape that it should have');
    if (full) assert.deepEqual(reply, parsed());
  },
};

async function start(order) {
  const protocol = protocols[order.row]();
  const [host, port] = order.address.split(':');
  if (order.role === 'server') {
    const server = new RpcServer({ logger: silent, protocol, port: Number(port), host });
    server.addService({ interfaceName }, service);
    await server.start();
    return undefined;
  }
  const consumers = [];
  for (let i = 0; i < Math.max(order.size, 1); i++) { // a client has one connection
    const client = new RpcClient({ logger: silent, protocol });
    const consumer = client.createConsumer({ interfaceName, serverHost: order.address, responseTimeout: 10000 });
    await consumer.ready();
    consumers.push(consumer);
  }
  const args = order.work === 'parse' ? ['s', 1, 2] : [];
  const call = (i) => consumers[i % consumers.length].invoke(order.work, args);
  let once;
  if (order.work === 'asyncError') {
    once = async (i) => {
      try {
        await call(i);
      } catch (error) {
        if (String(error.message).includes('async is not defined')) return;
        throw new Error(`it failed with another error: ${error.message}`);
      }
      throw new Error('it did not fail');
    };
  } else {
    const check = checks[order.work];
    once = async (i, n) => check(await call(i), n % 1000 === 0);
  }
  await once(0, 0);
  return (nanoseconds) => closed(nanoseconds, order.callers, once);
}

main(start);
