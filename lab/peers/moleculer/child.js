"use strict";
// One side of calls between two nodes, or both sides in one process, of a peer of Node. The order is JSON in the environment;
// reports go to file 3, a JSON document a line; what comes next is a line on the standard input: "callers N", which says how many
// call at once, or "measure NANOSECONDS". When that ends, so does this.

const fs = require("node:fs");
const readline = require("node:readline");

const order = JSON.parse(process.env.SABIR_LAB_ORDER);
order.extra = order.extra || {};
const contenders = {
	moleculer: () => require("./moleculer"),
	hemera: () => require("./hemera-nats"),
	cote: () => require("./cote-node"),
	seneca: () => require("./seneca-node")
};

const report = document => fs.writeSync(3, JSON.stringify(document) + "\n");

function fail(err) {
	report({ error: String((err && err.stack) || err) });
	process.exit(1);
}
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

// round keeps three digits of a latency, so that the list of latencies stays short.
function round(latency) {
	const unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(latency)) - 2));
	return Math.max(1, Math.round(latency / unit) * unit);
}

// {"a":1234} is ten bytes. No two callers that call at once send the same, and none the same twice in a row.
const numbers = 9000;
const request = (caller, sequence) => 1000 + ((caller * 89 + sequence) % numbers);

const givesUpAfter = 100; // wrong answers in a row
const sequences = [];

// measure is a closed loop: each caller calls again when it has its answer. A latency goes from the answer before to this one.
async function measure(call, callers, duration) {
	const latencies = new Map();
	const sample = { operations: 0, wrong: 0 };
	const started = performance.now();
	const end = started + duration / 1e6;
	const cpu = process.cpuUsage();

	async function run(caller) {
		let failed = 0;
		let sequence = sequences[caller] || 0;
		let last = performance.now();
		while (last < end && failed < givesUpAfter) {
			const sent = request(caller, ++sequence);
			let problem = "";
			try {
				const got = await call(sent);
				if (got !== sent) problem = `caller ${caller} sent ${sent} and got ${got}`;
			} catch (err) {
				problem = String((err && err.stack) || err);
			}
			const now = performance.now();
			if (problem === "") {
				const latency = round((now - last) * 1e6);
				latencies.set(latency, (latencies.get(latency) || 0) + 1);
				sample.operations++;
				failed = 0;
			} else {
				sample.wrong++;
				sample.problem = sample.problem || problem;
				failed++;
			}
			last = now;
		}
		sequences[caller] = sequence;
	}

	const all = [];
	for (let caller = 0; caller < callers; caller++) all.push(run(caller));
	await Promise.all(all);
	sample.elapsed = Math.round((performance.now() - started) * 1e6);
	const { user, system } = process.cpuUsage(cpu); // microseconds
	sample.cpu = (user + system) * 1000;
	sample.latencies = [...latencies];
	return sample;
}

async function main() {
	if (!contenders[order.row]) throw new Error(`there is no ${order.row}`);
	const contender = contenders[order.row]();
	const stops = [];
	if (order.role !== "client") stops.unshift(await contender.serve(order));
	let call;
	if (order.role !== "server") {
		const client = await contender.dial(order);
		stops.unshift(client.stop);
		call = client.call;
	}
	report({});
	let callers = 1;
	for await (const line of readline.createInterface({ input: process.stdin })) {
		const [word, number] = line.split(" ");
		if (word === "callers" && call) {
			callers = Number(number);
			report({ data: callers });
		} else if (word === "measure" && call) {
			report({ sample: await measure(call, callers, Number(number)) });
		} else {
			report({ error: `this process knows no "${line}"` });
		}
	}
	for (const stop of stops) await stop();
	process.exit(0);
}

main().catch(fail);
