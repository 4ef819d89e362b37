"use strict";
// The call of the tables: the sum of two numbers, another pair with each call, and the check of its answer.

const most = 1 << 16;

// sums makes run(n) from add(pair), which promises the sum.
exports.sums = function sums(add) {
	let next = 0;
	return async n => {
		for (let i = 0; i < n; i++) {
			next = (next + 1) % most;
			const sum = await add({ a: next, b: 7 });
			if (sum !== next + 7) return `${next} + 7 was answered with ${sum}`;
		}
		return "";
	};
};
