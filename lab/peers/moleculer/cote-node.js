"use strict";

const { Requester, Responder } = require("cote");

const patience = 15000; // to find the server, ms

// cote finds its peers by broadcast; the key keeps this row from others.
const options = (name, order) => [
	{ name, key: order.extra.cluster },
	{ log: false, broadcast: "127.255.255.255", helloInterval: 200 }
];

exports.serve = async order => {
	const responder = new Responder(...options("server", order));
	responder.on("echo", (message, reply) => reply(null, { a: message.a }));
	return () => responder.close();
};

exports.dial = async order => {
	const requester = new Requester(...options("client", order));
	await new Promise((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error(`cote has found no server within ${patience} ms`)), patience);
		requester.once("cote:added", () => {
			clearTimeout(timer);
			resolve();
		});
	});
	return { call: async a => (await requester.send({ type: "echo", a })).a, stop: () => requester.close() };
};
