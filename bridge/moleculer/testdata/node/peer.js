"use strict";

// A Moleculer node that does what the lines of its standard input say, each a JSON array [id, verb, ...arguments], and answers each with a
// line {id, result} or {id, error}. Events that it gets are lines {event}.

const [, , version, nodeID, namespace, options] = process.argv;
const { ServiceBroker, Errors, Middlewares } = require(version === "4" ? "moleculer14" : "moleculer");
const { Readable, Transform } = require("stream");

const say = line => process.stdout.write(JSON.stringify(line) + "\n");

// Middlewares of the options are [name, ...arguments].
const settings = JSON.parse(options);
settings.middlewares = (settings.middlewares ?? []).map(([name, ...args]) => Middlewares.Transmit[name](...args));

const broker = new ServiceBroker({ nodeID, namespace, heartbeatInterval: 1, heartbeatTimeout: 15, ...settings, logger: false, tracing: false });

// streamOf is the stream of a request: 0.14 has it in place of the params, which are in meta.
const streamOf = ctx => ctx.stream ?? (typeof ctx.params?.pipe === "function" ? ctx.params : null);
const paramsOf = ctx => (version === "4" ? ctx.meta.$params : ctx.params) ?? null;

// Bytes are counted and added up, so that a long stream has a short answer.
const collect = async stream => {
	const values = [];
	let bytes = 0, sum = 0;
	for await (const value of stream) {
		if (!Buffer.isBuffer(value)) { values.push(value); continue; }
		bytes += value.length;
		for (const b of value) sum += b;
	}
	return { values, bytes, sum, object: stream.readableObjectMode };
};

broker.createService({
	name: "js",
	version: 2,
	actions: {
		echo: ctx => ctx.params,
		nothing: () => undefined,
		whoami: () => nodeID,
		add: { params: { a: "number", b: "number" }, handler: ctx => ctx.params.a + ctx.params.b },
		info: ctx => ({ meta: ctx.meta, headers: ctx.headers, level: ctx.level, caller: ctx.caller, requestID: ctx.requestID, timeout: ctx.options.timeout, parentID: ctx.parentID, tracing: ctx.tracing }),
		mark(ctx) {
			ctx.meta.marked = { by: nodeID };
			return ctx.meta;
		},
		fail(ctx) {
			const p = ctx.params;
			if (p.class === "Error") throw new Error(p.message);
			if (p.class === "ValidationError") throw new Errors.ValidationError(p.message, "VALIDATION_ERROR", [{ type: "required", field: "name", message: "is missing" }]);
			throw new Errors[p.class](p.message, p.code, p.type, p.data);
		},
		collect: async ctx => ({ ...(await collect(streamOf(ctx))), params: paramsOf(ctx), meta: ctx.meta.user }),
		range: ctx => Readable.from(Array.from({ length: ctx.params.n }, (_, i) => ({ i }))),
		endless: () => Readable.from((async function* () { for (let i = 0; ; i++) { yield { i }; await new Promise(resolve => setTimeout(resolve, 5)); } })()),
		bytes: ctx => Readable.from(Array.from({ length: ctx.params.n }, () => Buffer.alloc(ctx.params.size, 1)), { objectMode: false }),
		upper: ctx => streamOf(ctx).pipe(new Transform({ transform(chunk, _, done) { done(null, chunk.toString().toUpperCase()); } })),
		double: ctx => streamOf(ctx).pipe(new Transform({ objectMode: true, transform(chunk, _, done) { done(null, { i: 2 * chunk.i }); } })),
		async breaks(ctx) {
			const values = new Readable({ objectMode: true, read() {} });
			values.push({ i: 1 });
			setTimeout(() => values.destroy(new Errors.MoleculerClientError("it broke", 409, "BROKEN")), 50);
			return values;
		},
		async ended(ctx) {
			try {
				await collect(streamOf(ctx));
			} catch (e) {
				say({ event: "ended " + e.name });
				throw e;
			}
		},
		relay: ctx => ctx.call(ctx.params.action, ctx.params.params),
		text: ctx => "x".repeat(ctx.params.n),
		length: ctx => ctx.params.length,
		empty: () => Readable.from([]),
		sleep: ctx => new Promise(resolve => setTimeout(() => resolve("slept"), ctx.params.ms))
	}
});

broker.createService({
	name: "listener",
	events: {
		"news.**"(ctx) {
			say({ event: ctx.eventName, params: ctx.params, groups: ctx.eventGroups, type: ctx.eventType, meta: ctx.meta, node: nodeID, sender: ctx.nodeID });
		},
		"news.loud": { group: "loud", handler: ctx => say({ event: "loud " + ctx.eventName, params: ctx.params, groups: ctx.eventGroups, type: ctx.eventType, node: nodeID, sender: ctx.nodeID }) }
	}
});

// What "listener add" of Moleculer's REPL makes.
broker.createService({ name: "$repl-event-listener", events: { "seen.*": ctx => say({ event: "listener of the REPL " + ctx.eventName, params: ctx.params }) } });

const verbs = {
	start: () => broker.start(),
	wait: (...services) => broker.waitForServices(services, 20000, 20).then(() => true),
	async call(action, params, options) {
		const meta = options?.meta ?? {};
		const result = await broker.call(action, params, { ...options, meta });
		return { result, meta };
	},
	async buffer(action) {
		return broker.call(action, { data: Buffer.from([1, 2, 3]), at: new Date(0), none: undefined });
	},
	async stream(action, values, params, meta = {}) {
		const stream = values && Readable.from(values.map(v => (typeof v === "string" ? Buffer.from(v) : v)), { objectMode: typeof values[0] !== "string" });
		const result = await (!stream ? broker.call(action, params, { meta })
			: version === "4" ? broker.call(action, stream, { meta: { ...meta, $params: params } }) : broker.call(action, params, { stream, meta }));
		return typeof result?.pipe === "function" ? collect(result) : { values: [result] };
	},
	async upload(action, size, pieces) {
		const stream = Readable.from(Array.from({ length: pieces }, () => Buffer.alloc(size, 1)), { objectMode: false });
		return collect(await (version === "4" ? broker.call(action, stream) : broker.call(action, {}, { stream })));
	},
	endless: action => broker.call(action, {}, { stream: Readable.from((async function* () { for (let i = 0; ; i++) { yield { i }; await new Promise(resolve => setTimeout(resolve, 5)); } })()) }).then(() => true),
	async breaks(action) {
		const stream = new Readable({ objectMode: true, read() {} });
		stream.push({ i: 1 });
		setTimeout(() => stream.destroy(new Errors.MoleculerClientError("it broke", 409, "BROKEN")), 50);
		return collect(await (version === "4" ? broker.call(action, stream) : broker.call(action, {}, { stream })));
	},
	async kinds(action) {
		const same = await broker.call(action, { data: Buffer.from([1, 2, 255]), at: new Date(86400000), text: "x", list: [1, 2.5, null, true, -7, 2 ** 40] });
		return { data: Buffer.isBuffer(same.data) || same.data instanceof Uint8Array ? [...same.data] : same.data, at: same.at instanceof Date ? "Date " + same.at.getTime() : same.at, text: same.text, list: same.list };
	},
	async times(n, action, params) {
		const begun = process.cpuUsage();
		const from = Date.now();
		let left = n;
		await Promise.all(Array.from({ length: 100 }, async () => {
			while (left-- > 0) await broker.call(action, params);
		}));
		const used = process.cpuUsage(begun);
		return { ms: Date.now() - from, cpu: (used.user + used.system) / 1000 };
	},
	// text calls an action with a text of n characters, and returns the length of what comes back.
	text: (n, action) => broker.call(action, "x".repeat(n)).then(back => back.length),
	// holes calls an action with a list in which a value is undefined.
	holes: action => broker.call(action, [1, undefined, 3]),
	many: (n, action, params) => Promise.all(Array.from({ length: n }, () => broker.call(action, params).then(back => back.length))),
	// gateway starts one of moleculer-web, which gives actions the addresses that they declare, and uploads to one.
	async gateway(upload) {
		const web = broker.createService({ name: "web", mixins: [require("moleculer-web")], settings: { port: 0, ip: "127.0.0.1", logRequestParams: null, routes: [
			{ path: "/up", bodyParsers: false, aliases: { "POST /": "multipart:" + upload, "PUT /:name": "stream:" + upload } },
			{ path: "/", autoAliases: true, whitelist: ["**"], bodyParsers: { json: true } }
		] } });
		await broker.waitForServices("web", 20000, 20);
		return "http://127.0.0.1:" + web.server.address().port;
	},
	// validate says which members break the rules that INFO has of an action's params.
	validate(action, params) {
		const list = broker.registry.getActionList({}).find(a => a.name === action);
		const found = new (require("fastest-validator"))().compile(list.action.params)(params);
		return found === true ? [] : found.map(e => e.field + " " + e.type);
	},
	emit: (name, params, options) => broker.emit(name, params, options).then(() => true),
	broadcast: (name, params, options) => broker.broadcast(name, params, options).then(() => true),
	nodes: () => broker.call("$node.list").then(list => list.filter(n => n.available).map(n => n.id)),
	services: () => broker.call("$node.services").then(list => list.filter(s => s.available).map(s => s.fullName)),
	ping: id => broker.ping(id, 3000).then(p => p !== null),
	// add creates a service, also with further actions, which return their params.
	add(name, more = {}) {
		const actions = { hello: () => "hello from " + name };
		for (const [action, schema] of Object.entries(more)) actions[action] = { ...schema, handler: ctx => ctx.params };
		broker.createService({ name, actions });
		return true;
	},
	// addMany creates n services of ten actions each.
	addMany(prefix, n) {
		for (let i = 0; i < n; i++) {
			const actions = {};
			for (let j = 0; j < 10; j++) actions["act" + j] = { params: { a: "number" }, handler: () => i * 10 + j };
			broker.createService({ name: prefix + i, actions });
		}
		return true;
	},
	remove: name => broker.destroyService(name).then(() => true),
	// Over MQTT a heartbeat between the disconnection and the end of its timer crashes Moleculer's process: 0.15.2, transit.js:1478.
	stop: () => broker.registry.discoverer.stop().then(() => broker.stop())
};

require("readline").createInterface({ input: process.stdin }).on("line", async line => {
	const [id, verb, ...args] = JSON.parse(line);
	try {
		const result = await verbs[verb](...args);
		say({ id, result: result === undefined ? null : result });
	} catch (e) {
		say({ id, error: { name: e.name, message: e.message, code: e.code, type: e.type, retryable: e.retryable, data: e.data, nodeID: e.nodeID } });
	}
	if (verb === "stop") process.exit(0);
}).on("close", () => process.exit(0));
