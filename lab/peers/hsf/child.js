'use strict';

// The protocol of the lab: an order in the environment, reports on file descriptor 3, what is wanted next on the standard input.

const fs = require('node:fs');
const readline = require('node:readline');

const report = (document) => fs.writeSync(3, JSON.stringify(document) + '\n');

/** Has start make the measure function for the order; a server has none. */
async function main(start) {
  let measure;
  try {
    measure = await start(JSON.parse(process.env.SABIR_LAB_ORDER));
  } catch (error) {
    report({ error: String(error.stack || error) });
    process.exit(1);
  }
  report({});
  for await (const line of readline.createInterface({ input: process.stdin })) {
    try {
      report({ sample: await measure(Number(line.slice('measure '.length))) });
    } catch (error) {
      report({ error: String(error.stack || error) });
    }
  }
  process.exit(0);
}

const threeDigits = (n) => {
  let unit = 1;
  while (n / unit >= 1000) unit *= 10;
  return Math.max(Math.floor(n / unit) * unit, 1);
};

/** A closed loop: each caller begins its next call when the last has ended. once(caller, n) throws where the answer is wrong. */
async function closed(nanoseconds, callers, once) {
  const counts = new Map();
  const sample = { operations: 0, wrong: 0, problem: '' };
  const begun = Number(process.hrtime.bigint());
  const ends = begun + nanoseconds;
  async function caller(i) {
    let last = Number(process.hrtime.bigint());
    for (let n = 0, failed = 0; last < ends && failed < 100; n++) {
      let problem;
      try {
        await once(i, n);
      } catch (error) {
        problem = String(error);
      }
      const now = Number(process.hrtime.bigint());
      if (problem === undefined) {
        const took = threeDigits(now - last);
        counts.set(took, (counts.get(took) || 0) + 1);
        sample.operations++;
      } else {
        failed++;
        sample.wrong++;
        sample.problem ||= problem;
      }
      last = now;
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, i) => caller(i)));
  sample.elapsed = Number(process.hrtime.bigint()) - begun;
  sample.latencies = [...counts].sort((a, b) => a[0] - b[0]);
  return sample;
}

module.exports = { main, closed };
