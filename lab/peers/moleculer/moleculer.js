"use strict";

const { ServiceBroker } = require("moleculer");

// transporterOf is what Moleculer joins: a broker by its URL, another broker of this process by "fake", and by host and port its
// own TCP, to which addresses are given, since multicast is not everywhere.
function transporterOf(address) {
	if (address === "fake") return "Fake";
	if (address.startsWith("amqp:")) {
		// With the defaults, a prefetch of 1 and Nagle's algorithm, a call waits 40 ms for acknowledgements.
		return { type: "AMQP", options: { url: address, prefetch: 100, socketOptions: { noDelay: true } } };
	}
	if (address.includes("://")) return address;
	return { type: "TCP", options: { udpDiscovery: false, urls: [address + "/server"] } };
}

const newBroker = (nodeID, order) =>
	new ServiceBroker({
		nodeID,
		namespace: order.extra.cluster,
		logger: false,
		transporter: transporterOf(order.address),
		tracking: { enabled: Boolean(order.extra.tracking) }
	});

exports.serve = async order => {
	const broker = newBroker("server", order);
	broker.createService({ name: "echo", actions: { reply: ctx => ctx.params } });
	await broker.start();
	return () => broker.stop();
};

exports.dial = async order => {
	const broker = newBroker("client", order);
	await broker.start();
	await broker.waitForServices("echo", 15000, 50);
	return { call: async a => (await broker.call("echo.reply", { a })).a, stop: () => broker.stop() };
};
