// SPDX-License-Identifier: BSD-2-Clause
// Lanes of what was sampled of whole GPUs (report --device): below the kernels of the GPU, on the
// same axis. Full is the mean of what falls on a pixel; the paler part reaches to the most.
"use strict";
const samples = (() => {
	const STEPS = 1e6, NOTHING = unpack({ data: "", items: 0 });
	const given = data.samples || { lanes: [] };

	function figure(value, unit) {
		if (unit === "ratio")
			return (100 * value).toFixed(1) + " %";
		for (const [prefix, scale] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]])
			if (value >= scale || scale === 1)
				return (+(value / scale).toPrecision(4) + " " + prefix + (unit === "bytes/s" ? "B/s" : "")).trim();
	}

	function unpackPoints(lane) {
		const number = numbers(lane.data), n = lane.points;
		const points = {
			start: new Float64Array(n), end: new Float64Array(n), mean: new Float64Array(n),
			least: new Float64Array(n), most: new Float64Array(n), length: n,
		};
		let before = 0;
		for (let i = 0; i < n; i++) {
			points.start[i] = before + signed(number());
			points.end[i] = before = points.start[i] + number();
			const mean = number();
			points.mean[i] = mean / STEPS;
			points.least[i] = (mean - number()) / STEPS;
			points.most[i] = (mean + number()) / STEPS;
		}
		lane.data = null;
		return points;
	}

	const shorter = (text, most) => text.length > most ? text.slice(0, most - 1) + "\u2026" : text;

	function counterOf(lane) {
		const points = unpackPoints(lane), nothing = lane.unit !== "ratio" && !points.most.some((most) => most);
		return {
			kind: "samples", device: lane.device, number: 0, process: lane.process, items: NOTHING,
			key: lane.key, unit: lane.unit, scale: lane.scale, points,
			label: "GPU " + lane.device + " " + shorter(lane.key, 26),
			scaleLabel: (nothing ? "always 0" : "up to " + figure(lane.scale, lane.unit)) +
				(lane.kernels ? "" : ", GPU as a whole"),
		};
	}

	const counters = given.lanes.map(counterOf);

	// After the last stream of its GPU; of a GPU that ran nothing here, after everything.
	for (const counter of counters) {
		let place = lanes.length;
		for (let i = 0; counter.process && i < lanes.length; i++)
			if (lanes[i].process === counter.process && lanes[i].device === counter.device &&
				(lanes[i].kind === "stream" || lanes[i].kind === "samples"))
				place = i + 1;
		lanes.splice(place, 0, counter);
	}

	// Each pixel has its part of what lies on it.
	function pixels(points, first, view) {
		const wide = Math.ceil(view.right) - view.left;
		const sum = new Float64Array(wide), length = new Float64Array(wide), most = new Float64Array(wide);
		for (let i = first; i < points.length && points.start[i] <= view.to; i++) {
			const from = Math.max(0, view.x(points.start[i]) - view.left);
			const to = Math.min(wide, view.x(points.end[i]) - view.left);
			for (let px = Math.floor(from); px < to; px++) {
				const part = Math.min(px + 1, to) - Math.max(px, from);
				sum[px] += points.mean[i] * part;
				length[px] += part;
				most[px] = Math.max(most[px], points.most[i]);
			}
		}
		return { sum, length, most };
	}

	// What was measured as nothing has a line, so that it differs from what was not measured.
	function area(context, view, length, share) {
		const base = view.y + view.row - 4, tall = view.row - 8;
		context.beginPath();
		for (let px = 0; px < length.length; px++) {
			if (!length[px])
				continue;
			context.moveTo(view.left + px, base);
			for (; px < length.length && length[px]; px++) {
				const top = base - Math.max(1, Math.min(1, share(px)) * tall);
				context.lineTo(view.left + px, top);
				context.lineTo(view.left + px + 1, top);
			}
			context.lineTo(view.left + px, base);
		}
		context.fill();
	}

	function draw(context, lane, first, view) {
		const { sum, length, most } = pixels(lane.points, first, view);
		context.fillStyle = view.color;
		context.globalAlpha = 0.35;
		area(context, view, length, (px) => most[px]);
		context.globalAlpha = 1;
		area(context, view, length, (px) => sum[px] / length[px]);
	}

	function describe(lane, i) {
		const { points } = lane, value = (part) => figure(part * lane.scale, lane.unit);
		const spread = points.most[i] > points.least[i] ?
			" (" + value(points.least[i]) + " to " + value(points.most[i]) + ")" : "";
		return lane.key + ": " + value(points.mean[i]) + spread + "\n" +
			time(points.end[i] - points.start[i]) + " of GPU " + lane.device + " at " + time(points.start[i]);
	}

	// The means of its GPU's columns while a kernel ran.
	function during(lane, firstAt, start, end) {
		const words = [];
		for (const { key, unit, scale, points, process, device } of lane.kind === "stream" ? counters : []) {
			let sum = 0, length = 0;
			if (process !== lane.process || device !== lane.device)
				continue;
			for (let i = firstAt(points, start); i < points.length && points.start[i] < end; i++) {
				const part = Math.max(0, Math.min(end, points.end[i]) - Math.max(start, points.start[i]));
				sum += points.mean[i] * part;
				length += part;
			}
			if (length)
				words.push(key + " " + figure(sum / length * scale, unit));
		}
		return words.length ? "\nthe GPU meanwhile: " + words.join(", ") : "";
	}

	function note() {
		const box = byId("samples-note");
		if (!data.samples)
			return;
		box.hidden = false;
		box.textContent = "Below a GPU's kernels: what profile --device sampled of it, " +
			count(given.rows) + " rows; full is the mean, the paler part reaches to the most." +
			(given.step ? " There were too many for a page: they are summed up in steps of " +
				time(given.step) + ", with mean, least and most of each." : "") +
			(given.outside ? " " + count(given.outside) + " rows of another time are left out." : "") +
			(given.left_out ? " " + count(given.left_out) + " values are left out, of more columns than a page has." : "");
	}

	return { draw, describe, during, note, counters };
})();
