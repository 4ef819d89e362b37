"use strict";

// The stock, a service of Moleculer, and a customer who orders from the service of Go.

const { ServiceBroker, Errors } = require("moleculer");

const [namespace = "shop", port] = process.argv.slice(2);
const broker = new ServiceBroker({ nodeID: "node", namespace, transporter: { type: "TCP", options: { port } }, logger: false });

const stock = { tea: 10 };

broker.createService({
	name: "stock",
	actions: {
		reserve: {
			description: "takes articles out of the stock",
			params: { article: "string|min:1", amount: "number|integer|positive", note: "string|optional" },
			handler(ctx) {
				const { article, amount } = ctx.params;
				if (!(stock[article] >= amount)) throw new Errors.MoleculerClientError(`not enough ${article}`, 409, "OUT_OF_STOCK");
				stock[article] -= amount;
				return { left: stock[article] };
			}
		}
	},
	events: {
		"orders.placed": ctx => console.log("heard: orders.placed", JSON.stringify(ctx.params))
	}
});

(async () => {
	await broker.start();
	console.log("started");
	await broker.waitForServices("orders");
	console.log((await broker.call("orders.place", { article: "tea", amount: 3 })).text);
	await broker.call("orders.place", { article: "tea", amount: 30 }).catch(e => console.log(`${e.code} ${e.type}: ${e.message}`));
})();
