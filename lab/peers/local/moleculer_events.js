"use strict";

const { started } = require("./moleculer_broker");

// events emits "user.created" to a number of services that listen by a pattern. All handlers have run when the promise that
// emit returns is kept, and each has had the payload.
async function events(order) {
	const { pattern, payload } = order.extra;
	const size = order.size || 0;
	let delivered = 0;
	let total = 0;
	const service = i => ({
		name: `listener${i}`,
		events: {
			[pattern]: ctx => {
				delivered++;
				if (ctx.params) total += ctx.params.id;
			}
		}
	});
	const broker = await started({}, ...Array.from({ length: size }, (_, i) => service(i)));
	const run = async n => {
		delivered = total = 0;
		let sum = 0;
		for (let id = 1; id <= n; id++) {
			if (payload) {
				await broker.emit("user.created", { id, name: "Ada" });
				sum += id * size;
			} else {
				await broker.emit("user.created");
			}
			if (delivered !== id * size) return `after ${id} events there were ${delivered} of ${id * size} deliveries`;
		}
		return total === sum ? "" : `the payloads' sum is ${total}, not ${sum}`;
	};
	return { run, stop: () => broker.stop() };
}

module.exports = { events };
