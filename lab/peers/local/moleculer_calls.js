"use strict";

const { sums } = require("./numbers");
const { started, math } = require("./moleculer_broker");

async function adding(options) {
	const broker = await started(options, math);
	return { run: sums(pair => broker.call("math.add", pair)), stop: () => broker.stop() };
}

const call = () => adding();

// A call without params, whose answers are the numbers in their order.
async function empty() {
	let given = 0;
	let expected = 0;
	const broker = await started({}, { name: "numbers", actions: { next: () => ++given } });
	const run = async n => {
		for (let i = 0; i < n; i++) {
			const answer = await broker.call("numbers.next");
			if (answer !== ++expected) return `${expected} was answered with ${answer}`;
		}
		return "";
	};
	return { run, stop: () => broker.stop() };
}

// Each middleware counts the calls that it has let through.
async function middlewares(order, options) {
	let passed = 0;
	const size = order.size || 0;
	const middleware = () => ({
		localAction: handler => ctx => {
			passed++;
			return handler(ctx);
		}
	});
	const broker = await started({ ...options, middlewares: Array.from({ length: size }, middleware) }, math);
	passed = 0; // without what the broker's own actions have had so far
	const add = sums(pair => broker.call("math.add", pair));
	const run = async n => {
		const before = passed;
		const problem = await add(n);
		if (!problem && passed - before !== n * size) return `${passed - before} of ${n * size} middlewares ran`;
		return problem;
	};
	return { run, stop: () => broker.stop() };
}

// validated checks two fields by their rules; an age of 200 is one too many.
async function validated(order) {
	const rules = {
		name: { type: "string", min: 1, max: 64 },
		age: { type: "number", min: 0, max: 150 }
	};
	const checked = order.work !== "validator none";
	const fails = order.work === "validator fails";
	const age = fails ? 200 : 36;
	const later = { handler: ctx => ctx.params.age + 1 };
	const broker = await started({}, { name: "people", actions: { later: checked ? { ...later, params: rules } : later } });
	const right = err => err.code === 422 && err.data.length === 1 && err.data[0].field === "age";
	const run = async n => {
		for (let i = 0; i < n; i++) {
			try {
				const answer = await broker.call("people.later", { name: "Ada", age });
				if (fails || answer !== age + 1) return `an age of ${age} was answered with ${answer}`;
			} catch (err) {
				if (!fails || !right(err)) return String(err);
			}
		}
		return "";
	};
	return { run, stop: () => broker.stop() };
}

module.exports = {
	call,
	empty,
	middlewares,
	"middlewares bare": order => middlewares(order, { internalMiddlewares: false }),
	"tracking without": call,
	"tracking with": () => adding({ tracking: { enabled: true } }),
	"validator none": validated,
	"validator passes": validated,
	"validator fails": validated
};
