"use strict";

const Seneca = require("seneca");
const { sums } = require("./numbers");

exports.start = async order => {
	if (order.work !== "call") return null;
	const seneca = Seneca({ log: "silent" });
	seneca.add({ cmd: "add" }, (message, reply) => reply(null, { sum: message.a + message.b }));
	await new Promise(resolve => seneca.ready(resolve));
	const add = pair =>
		new Promise((resolve, reject) =>
			seneca.act({ cmd: "add", ...pair }, (err, answer) => (err ? reject(err) : resolve(answer.sum)))
		);
	return { run: sums(add), stop: () => new Promise(resolve => seneca.close(resolve)) };
};
