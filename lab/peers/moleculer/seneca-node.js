"use strict";

const Seneca = require("seneca");

const started = () => Seneca({ log: "silent" });
const ready = seneca => new Promise(resolve => seneca.ready(resolve));
const close = seneca => () => new Promise(resolve => seneca.close(resolve));

const at = order => {
	const [host, port] = order.address.split(":");
	return { type: "tcp", host, port: Number(port) };
};

exports.serve = async order => {
	const seneca = started();
	seneca.add({ cmd: "echo" }, (message, reply) => reply(null, { a: message.a }));
	seneca.listen(at(order));
	await ready(seneca);
	return close(seneca);
};

exports.dial = async order => {
	const seneca = started();
	seneca.client(at(order));
	await ready(seneca);
	const call = a =>
		new Promise((resolve, reject) => seneca.act({ cmd: "echo", a }, (err, answer) => (err ? reject(err) : resolve(answer.a))));
	return { call, stop: close(seneca) };
};
