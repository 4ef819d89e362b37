"use strict";

const { ServiceBroker } = require("moleculer");

// started is a broker with Moleculer's own defaults, without a log, and with the options and services given.
exports.started = async (options, ...services) => {
	const broker = new ServiceBroker({ logger: false, ...options });
	for (const service of services) broker.createService(service);
	await broker.start();
	return broker;
};

exports.math = { name: "math", actions: { add: ctx => ctx.params.a + ctx.params.b } };
