"use strict";

const { TracerExporters } = require("moleculer");
const { sums } = require("./numbers");
const { started, math } = require("./moleculer_broker");

// Dropper is an exporter that counts the spans that it is given.
class Dropper extends TracerExporters.Base {
	spans = 0;
	spanFinished() {
		this.spans++;
	}
}

// observed counts and traces calls, and checks after each measurement that none was missed.
async function observed(metrics, tracing) {
	const dropper = new Dropper();
	const broker = await started({ metrics, tracing: tracing && { enabled: true, exporter: dropper } }, math);
	let calls = 0;
	const run = sums(pair => {
		calls++;
		return broker.call("math.add", pair);
	});
	const counted = () => {
		const values = broker.metrics.getMetric("moleculer.request.total").snapshot();
		return values.filter(v => v.labels.action === "math.add").reduce((sum, v) => sum + v.value, 0);
	};
	const after = sample => {
		if (sample.problem) return {};
		const figures = tracing ? { lost: ((calls - dropper.spans) / calls) * 100 } : {};
		if (metrics && counted() !== calls) return { wrong: 1, problem: `${counted()} of ${calls} calls were counted` };
		return { figures };
	};
	return { run, after, stop: () => broker.stop() };
}

module.exports = {
	"telemetry off": () => observed(false, false),
	"telemetry metrics": () => observed(true, false),
	"telemetry tracing": () => observed(false, true),
	"telemetry both": () => observed(true, true)
};
