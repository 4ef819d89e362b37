// One contender on one value: node --expose-gc child.js NAME. It is asked in lines of JSON and answers each with one:
//
//   {"do": "value", "json": TEXT}               takes the value; {"data": BASE64}, the value encoded
//   {"do": "answer", "data": BASE64}            {"json": TEXT}, what it decodes from the data
//   {"do": "collect"}                           collects garbage; {}
//   {"do": "run", "direction": ..., "n": n}     encodes or decodes n times; {"wall": NANOSECONDS}
//
// A failure is answered with {"error": TEXT}. The program ends with its input.
'use strict';
const readline = require('readline');
const { contenders } = require('./contenders.js');

const contender = contenders[process.argv[2]]();
let value;
let data;
const never = new Int32Array(new SharedArrayBuffer(4));
let sink; // what a loop made last is kept, so that the compiler cannot drop the work

const loops = {
  encode(n) { for (let i = 0; i < n; i++) sink = contender.encode(value); },
  decode(n) { for (let i = 0; i < n; i++) sink = contender.decode(data); },
};

// settle sleeps for a moment: the system brings the CPU time of a process up to date when it sleeps, and the one who asked reads
// it as soon as the answer is there.
function settle() {
  Atomics.wait(never, 0, 0, 2);
}

const tasks = {
  value(task) {
    value = JSON.parse(task.json);
    data = Buffer.from(contender.encode(value)); // a copy: some encode into memory that they use again
    return { data: data.toString('base64') };
  },
  answer(task) {
    const answer = contender.answer(contender.decode(Buffer.from(task.data, 'base64')));
    // cbor-x gives a BigInt for every integer of 64 bits, which JSON does not have.
    return { json: JSON.stringify(answer, (name, item) => (typeof item === 'bigint' ? Number(item) : item)) };
  },
  collect() {
    global.gc();
    settle();
    return {};
  },
  run(task) {
    const loop = loops[task.direction];
    const started = process.hrtime.bigint();
    loop(task.n);
    const wall = Number(process.hrtime.bigint() - started);
    settle();
    return { wall };
  },
};

readline.createInterface({ input: process.stdin }).on('line', line => {
  let reply;
  try {
    const task = JSON.parse(line);
    reply = tasks[task.do](task);
  } catch (error) {
    reply = { error: String(error.stack || error) };
  }
  process.stdout.write(JSON.stringify(reply) + '\n');
});
