"use strict";

const { Manager } = require("nanoservices");
const { sums } = require("./numbers");

// Without a recorder it writes no log of its calls.
exports.start = async order => {
	if (order.work !== "call") return null;
	const services = new Manager();
	services.register("add", ctx => ctx.result(ctx.params.a + ctx.params.b));
	return { run: sums(pair => services.call("add", pair)) };
};
