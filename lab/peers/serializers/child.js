'use strict';
// One of Moleculer's serializers at work: node --expose-gc child.js. The order is JSON in the environment; its address is a folder
// with the documents, as JSON, one to a file. Reports go to file 3, a JSON document a line. What comes next is a line on the
// standard input: "use DIRECTION SIZE", with serialize or deserialize and the name of a file, then "measure NANOSECONDS". "packet"
// is answered with the packet in base64, and "read BASE64" if that is the same packet by another hand. When the input ends, so does
// this.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { ID, contenders } = require('./contenders.js');

const order = JSON.parse(process.env.SABIR_LAB_ORDER);

const report = document => fs.writeSync(3, JSON.stringify(document) + '\n');

function fail(err) {
  report({ error: String((err && err.stack) || err) });
  process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const now = () => Number(process.hrtime.bigint());

let contender;
let direction;
let value; // the document
let data; // the packet around it, encoded
let last; // what was made last

// Each returns what is wrong in words, or "".
const loops = {
  serialize(n) {
    for (let i = 0; i < n; i++) {
      last = contender.encode(value);
      if (last.length !== data.length) return `a packet of ${last.length} bytes, want ${data.length}`;
    }
    return '';
  },
  deserialize(n) {
    for (let i = 0; i < n; i++) {
      last = contender.decode(data);
      if (last.id !== ID || last.success !== true) return `the packet has the id ${last.id} and success ${last.success}`;
    }
    return '';
  },
};

// plain is a packet as JSON has it: cbor-x gives a BigInt for every integer of 64 bits, which JSON does not have.
const plain = packet => JSON.parse(JSON.stringify(packet, (name, item) => (typeof item === 'bigint' ? Number(item) : item)));

// check compares the whole last packet with what it must be.
function check() {
  const found = direction === 'serialize' ? contender.decode(Buffer.from(last)) : last;
  assert.deepStrictEqual(plain(contender.answer(found)), contender.packet(value));
  last = undefined;
}

function use(word, size) {
  if (!loops[word]) throw new Error(`there is no direction ${word}`);
  value = JSON.parse(fs.readFileSync(path.join(order.address, `${size}.json`), 'utf8'));
  direction = word;
  data = Buffer.from(contender.encode(value)); // a copy: some encode into memory that they use again
  global.gc(); // what went before is not the next measurement's to collect
  return data.length;
}

// Packets are too short to be timed singly: latencies are the means of runs that take about this long together, nanoseconds.
const clockEach = 100000;

// round keeps three digits of a latency, so that the list of latencies stays short.
function round(latency) {
  const unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(latency)) - 2));
  return Math.max(1, Math.round(latency / unit) * unit);
}

// runLength is how many packets such a run has.
function runLength(run) {
  let n = 1;
  for (let took = 0; took < clockEach; n *= 2) {
    const begun = now();
    const problem = run(n);
    if (problem) throw new Error(`the first packets: ${problem}`);
    took = now() - begun;
  }
  return Math.max(1, Math.floor(n / 2));
}

function measure(duration) {
  const run = loops[direction];
  const n = runLength(run);
  const latencies = new Map();
  const sample = { operations: 0, wrong: 0, figures: { bytes: data.length } };
  const cpu = process.cpuUsage();
  const started = now();
  for (let before = started; before - started < duration; ) {
    const problem = run(n);
    if (problem) return Object.assign(sample, { wrong: 1, problem });
    sample.operations += n;
    const at = now();
    const latency = round((at - before) / n);
    latencies.set(latency, (latencies.get(latency) || 0) + n);
    before = at;
  }
  sample.elapsed = now() - started;
  const { user, system } = process.cpuUsage(cpu); // microseconds
  sample.cpu = (user + system) * 1000;
  sample.latencies = [...latencies];
  check();
  return sample;
}

function answer(line) {
  const [word, first, ...rest] = line.split(' ');
  if (word === 'use') return { data: use(first, rest.join(' ')) };
  if (word === 'packet' && direction) return { data: data.toString('base64') };
  if (word === 'read' && direction) {
    assert.deepStrictEqual(plain(contender.answer(contender.decode(Buffer.from(first, 'base64')))), contender.packet(value));
    return { data: true };
  }
  if (word === 'measure' && direction) return { sample: measure(Number(first)) };
  throw new Error(`this process knows no "${line}"`);
}

if (!contenders[order.row]) fail(new Error(`there is no ${order.row}`));
contender = contenders[order.row]();
report({});
readline
  .createInterface({ input: process.stdin })
  .on('line', line => {
    let reply;
    try {
      reply = answer(line);
    } catch (err) {
      reply = { error: String((err && err.stack) || err) };
    }
    report(reply);
  })
  .on('close', () => process.exit(0));
