'use strict';

// The complex object in hessian.js, or in Node's own JSON: the order's row; its Work is "encode" or "decode".

const assert = require('node:assert');
const hessian = require('hessian.js');
const { main } = require('./child');

const codecs = {
  'hessian.js': { encode: (v) => hessian.encode(v, '2.0'), decode: (data) => hessian.decode(data, '2.0') },
  JSON: { encode: JSON.stringify, decode: JSON.parse },
};

const value = {
  string: 'hello world',
  number: 1024.1,
  boolean: true,
  array: ['hello', 1024.12, true, { foo: 'bar' }, [1, 2, 3]],
  obj: { string: 'hello', boolean: true, array: ['hello', 'world'], number: 1024.123, obj: { foo: 'bar' } },
};

let sink; // what a loop made last is kept, so that the compiler cannot drop the work

main(async (order) => {
  const codec = codecs[order.row];
  const data = codec.encode(value);
  assert.deepStrictEqual(codec.decode(data), value);
  const loop = order.work === 'encode'
    ? (n) => { for (let i = 0; i < n; i++) sink = codec.encode(value); }
    : (n) => { for (let i = 0; i < n; i++) sink = codec.decode(data); };
  const now = () => Number(process.hrtime.bigint());
  return async (nanoseconds) => {
    const begun = now();
    const used = process.cpuUsage();
    let operations = 0;
    for (const n = 200; now() - begun < nanoseconds; operations += n) loop(n);
    const elapsed = now() - begun;
    const { user, system } = process.cpuUsage(used);
    if (order.work === 'encode') assert.strictEqual(sink.length, data.length);
    else assert.deepStrictEqual(sink, value);
    return { operations, elapsed, cpu: (user + system) * 1000, figures: { mean: elapsed / operations, bytes: data.length } };
  };
});
