// Measures hessian.js and JSON in Node on values that come as JSON on standard input, and prints the times as JSON.
'use strict';
const assert = require('assert');
const fs = require('fs');
const hessian = require('hessian.js');

const round = Number(process.argv[2]) * 1e6;
const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const results = [];

function measure(loop) {
  let n = 16;
  for (;;) { // also warms up
    const started = process.hrtime.bigint();
    loop(n);
    const took = Number(process.hrtime.bigint() - started);
    if (took >= round / 2) break;
    n *= 2;
  }
  // The time of all threads, as on Go's side.
  const started = process.cpuUsage();
  loop(n);
  const used = process.cpuUsage(started);
  return (used.user + used.system) * 1e3 / n;
}

let sink;
for (const [name, forms] of Object.entries(input)) {
  const value = JSON.parse(forms.json);
  const data = Buffer.from(forms.hessian, 'hex');
  assert.deepStrictEqual(hessian.decode(data, '2.0'), value);
  const own = hessian.encode(value, '2.0');
  assert.deepStrictEqual(hessian.decode(own, '2.0'), value);
  const text = JSON.stringify(value);
  const contenders = {
    'hessian.js': {
      bytes: own.length,
      encode: n => { for (let i = 0; i < n; i++) sink = hessian.encode(value, '2.0'); },
      decode: n => { for (let i = 0; i < n; i++) sink = hessian.decode(own, '2.0'); },
    },
    'JSON in Node': {
      bytes: text.length,
      encode: n => { for (let i = 0; i < n; i++) sink = JSON.stringify(value); },
      decode: n => { for (let i = 0; i < n; i++) sink = JSON.parse(text); },
    },
  };
  for (const [contender, c] of Object.entries(contenders)) {
    for (const direction of ['encode', 'decode']) {
      results.push({ contender, value: name, direction, nanos: measure(c[direction]), bytes: c.bytes });
    }
  }
}
console.log(JSON.stringify(results));
