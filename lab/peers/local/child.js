"use strict";
// A peer of Node at work in one process. The order is JSON in the environment; reports go to file 3, a JSON document a line;
// what comes next is a line on the standard input, "measure NANOSECONDS". When that ends, so does this.

const fs = require("node:fs");
const readline = require("node:readline");

const order = JSON.parse(process.env.SABIR_LAB_ORDER);
const contenders = {
	moleculer: () => require("./moleculer"),
	nanoservices: () => require("./nanoservices"),
	seneca: () => require("./seneca")
};

const report = document => fs.writeSync(3, JSON.stringify(document) + "\n");

function fail(err) {
	report({ error: String((err && err.stack) || err) });
	process.exit(1);
}
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

const now = () => Number(process.hrtime.bigint());

// Operations are too short to be timed singly: run(n) does n of them, each awaited before the next, and returns what was wrong
// in words, or "". Latencies are the means of runs that take about this long together, nanoseconds.
const clockEach = 100000;

// round keeps three digits of a latency, so that the list of latencies stays short.
function round(latency) {
	const unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(latency)) - 2));
	return Math.max(1, Math.round(latency / unit) * unit);
}

// runLength is how many operations such a run has. A run that was interrupted looks slow, so the most of three trials counts.
async function runLength(run) {
	let most = 1;
	for (let trial = 0; trial < 3; trial++) {
		let n = 1;
		for (let took = 0; took < clockEach; n *= 2) {
			const begun = now();
			const problem = await run(n);
			if (problem) throw new Error(`${n} operations: ${problem}`);
			took = now() - begun;
		}
		most = Math.max(most, n / 2);
	}
	return most;
}

async function measure(work, duration) {
	const n = await runLength(work.run);
	const latencies = new Map();
	const sample = { operations: 0, wrong: 0 };
	const cpu = process.cpuUsage();
	const started = now();
	for (let last = started; last - started < duration; ) {
		const problem = await work.run(n);
		if (problem) {
			Object.assign(sample, { wrong: 1, problem });
			break;
		}
		sample.operations += n;
		const at = now();
		const latency = round((at - last) / n);
		latencies.set(latency, (latencies.get(latency) || 0) + n);
		last = at;
	}
	sample.elapsed = now() - started;
	const { user, system } = process.cpuUsage(cpu); // microseconds
	sample.cpu = (user + system) * 1000;
	sample.latencies = [...latencies];
	if (work.after) Object.assign(sample, work.after(sample));
	return sample;
}

async function main() {
	const contender = contenders[order.row];
	const work = contender && (await contender().start(order));
	if (!work) throw new Error(`there is no ${order.work} of ${order.row}`);
	report({});
	for await (const line of readline.createInterface({ input: process.stdin })) {
		const [word, duration] = line.split(" ");
		if (word !== "measure") throw new Error(`this process knows no "${line}"`);
		report({ sample: await measure(work, Number(duration)) });
	}
	if (work.stop) await work.stop();
	process.exit(0);
}

main().catch(fail);
