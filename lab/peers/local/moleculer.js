"use strict";
// Moleculer's works, by the order's: each makes a broker and the operation that is measured.

const works = {
	...require("./moleculer_calls"),
	...require("./moleculer_telemetry"),
	...require("./moleculer_cache"),
	...require("./moleculer_events"),
	...require("./moleculer_growth")
};

exports.start = async order => {
	const make = works[order.work];
	return make ? make(order) : null;
};
