"use strict";

const { Hemera, nats } = require("sabir-lab-hemera");

const started = async order => {
	const hemera = new Hemera(nats.connect(order.address), { logLevel: "silent" });
	await hemera.ready();
	return hemera;
};

// The topic keeps this row from others at the same broker.
exports.serve = async order => {
	const hemera = await started(order);
	hemera.add({ topic: order.extra.cluster, cmd: "echo" }, async message => ({ a: message.a }));
	await new Promise((resolve, reject) => hemera.transport.flush(err => (err ? reject(err) : resolve())));
	return () => hemera.close();
};

exports.dial = async order => {
	const hemera = await started(order);
	const call = async a => (await hemera.act({ topic: order.extra.cluster, cmd: "echo", a })).data.a;
	return { call, stop: () => hemera.close() };
};
