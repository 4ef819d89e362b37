"use strict";

const { started } = require("./moleculer_broker");

// The same prime as in the programs in Go: each operation is of another action, or pattern, than the one before.
const stride = 7919;

// amongActions calls actions by name, of which there are many. Each adds its own number.
async function amongActions(order) {
	const actions = {};
	const names = [];
	for (let i = 0; i < order.size; i++) {
		actions[`add${i}`] = ctx => ctx.params.a + ctx.params.b + i;
		names.push(`numbers.add${i}`);
	}
	const broker = await started({}, { name: "numbers", actions });
	let at = 0;
	const run = async n => {
		for (let k = 0; k < n; k++) {
			at = (at + stride) % order.size;
			const sum = await broker.call(names[at], { a: at, b: 7 });
			if (sum !== 2 * at + 7) return `action ${at} answered ${at} with ${sum}`;
		}
		return "";
	};
	return { run, stop: () => broker.stop() };
}

// amongPatterns emits events, of each of which one handler among many has the pattern.
const amongPatterns = fresh => async order => {
	const events = {};
	const names = [];
	let by = -1;
	let got = 0;
	let delivered = 0;
	for (let i = 0; i < order.size; i++) {
		events[`shop${i}.*`] = ctx => {
			by = i;
			got = ctx.params.id;
			delivered++;
		};
		names.push(`shop${i}.order`);
	}
	const broker = await started({}, { name: "listener", events });
	let at = 0;
	let id = 0;
	const run = async n => {
		for (let k = 0; k < n; k++) {
			at = (at + stride) % order.size;
			id++;
			const before = delivered;
			await broker.emit(fresh ? names[at] + id : names[at], { id, name: "Ada" });
			if (delivered !== before + 1 || by !== at || got !== id)
				return `event ${id} for handler ${at} was handled ${delivered - before} times, last by handler ${by}`;
		}
		return "";
	};
	return { run, stop: () => broker.stop() };
};

module.exports = { "among actions": amongActions, "among patterns": amongPatterns(false), "among new names": amongPatterns(true) };
