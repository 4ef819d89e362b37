"use strict";

const { started } = require("./moleculer_broker");

const questions = 100;

// connected is a broker whose cacher is ready: until then that of Redis lets all calls pass it by.
async function connected(...options) {
	const broker = await started(...options);
	while (broker.cacher && !broker.cacher.connected) await new Promise(resolve => setImmediate(resolve));
	return broker;
}

// asking is the calls of an action whose answers are kept: 100 questions in turn. Each question may reach the handler once.
function asking(cache, cacher) {
	return async order => {
		let handled = 0;
		let asked = 0;
		const get = {
			cache,
			handler: ctx => {
				handled++;
				return { id: ctx.params.id, text: `number ${ctx.params.id}` };
			}
		};
		const broker = await connected({ cacher: cacher && cacher(order) }, { name: "texts", actions: { get } });
		const expected = Array.from({ length: questions }, (_, id) => `number ${id}`);
		const run = async n => {
			for (let i = 0; i < n; i++) {
				const id = asked++ % questions;
				const answer = await broker.call("texts.get", { id, name: "Ada" });
				if (answer.id !== id || answer.text !== expected[id]) return `${id} was answered with ${JSON.stringify(answer)}`;
			}
			const most = cache ? Math.min(asked, questions) : asked;
			return handled === most ? "" : `the handler has run ${handled} times for ${asked} calls`;
		};
		return { run, stop: () => broker.stop() };
	};
}

// documents are copies of the order's, told apart by their serial numbers.
function documents(order) {
	return Array.from({ length: 16 }, (_, serial) => ({ ...order.extra, serial }));
}

// setGet has the cacher keep a document and give it back.
function setGet(cacher) {
	return async order => {
		const broker = await connected({ cacher: cacher(order) });
		const all = documents(order);
		const last = order.extra.users.length - 1;
		let next = 0;
		const run = async n => {
			for (let i = 0; i < n; i++) {
				const document = all[next++ % all.length];
				const key = "document" + document.serial;
				await broker.cacher.set(key, document);
				const got = await broker.cacher.get(key);
				if (got.serial !== document.serial || got.users[last].id !== document.users[last].id) return `${key} has changed`;
			}
			return "";
		};
		return { run, stop: () => broker.stop() };
	};
}

// keys makes the keys of 100 inputs in turn; each must be the same each time, and that of no other input.
function keys(names) {
	return async () => {
		const broker = await started({ cacher: "Memory" });
		const action = { name: "posts.find" };
		const options = names ? { keys: names } : {};
		const contexts = Array.from({ length: questions }, (_, id) => ({
			params: { id, title: "On the engine", author: { name: "Ada", age: 36 }, tags: ["maths", "engines"] },
			meta: {}
		}));
		const known = contexts.map(ctx => broker.cacher.getCacheKey(action, options, ctx));
		if (new Set(known).size !== questions) throw new Error("two inputs have one key");
		let next = 0;
		const run = async n => {
			for (let i = 0; i < n; i++) {
				const id = next++ % questions;
				const key = broker.cacher.getCacheKey(action, options, contexts[id]);
				if (key !== known[id]) return `input ${id} has the keys ${known[id]} and ${key}`;
			}
			return "";
		};
		return { run, stop: () => broker.stop() };
	};
}

// found is the calls of an action whose one answer is a document that is kept. Where answers are cloned, the caller changes
// what it gets, and the next must not see it.
function found(clone) {
	return async order => {
		let handled = 0;
		const get = {
			cache: true,
			handler: () => {
				handled++;
				return { ...order.extra };
			}
		};
		const broker = await started({ cacher: { type: "Memory", options: { clone } } }, { name: "documents", actions: { get } });
		const name = order.extra.users[0].name;
		const ask = { id: 1 };
		const run = async n => {
			for (let i = 0; i < n; i++) {
				const got = await broker.call("documents.get", ask);
				if (got.users[0].name !== name) return `the name is ${got.users[0].name}`;
				if (clone) got.users[0].name = "changed";
			}
			return handled === 1 ? "" : `the handler has run ${handled} times`;
		};
		await run(1).then(problem => {
			// The first caller gets the handler's own document, which is also the one that is kept.
			if (problem) throw new Error(problem);
		});
		return { run, stop: () => broker.stop() };
	};
}

// alone is the same of the cacher by itself, without a call.
function alone(clone) {
	return async order => {
		const broker = await started({ cacher: { type: "Memory", options: { clone } } });
		await broker.cacher.set("document", order.extra);
		const name = order.extra.users[0].name;
		const run = async n => {
			for (let i = 0; i < n; i++) {
				const got = await broker.cacher.get("document");
				if (got.users[0].name !== name) return `the name is ${got.users[0].name}`;
				if (clone) got.users[0].name = "changed";
			}
			return "";
		};
		return { run, stop: () => broker.stop() };
	};
}

module.exports = {
	"cache none": asking(false),
	"cache memory": asking(true, () => "Memory"),
	"cache keys": asking({ keys: ["id"] }, () => "Memory"),
	"cache lru": asking({ keys: ["id"] }, () => ({ type: "MemoryLRU", options: { max: 1000 } })),
	"cache redis": asking({ keys: ["id"] }, order => order.address),
	"set-get memory": setGet(() => "Memory"),
	"set-get redis": setGet(order => order.address),
	"key dynamic": keys(),
	"key static": keys(["id"]),
	"clone without": found(false),
	"clone with": found(true),
	"clone without, alone": alone(false),
	"clone with, alone": alone(true)
};
