// SPDX-License-Identifier: BSD-2-Clause
// The page's data: the JSON object in it, and the timeline's packed events as typed arrays.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

const byId = (id) => document.getElementById(id);

// An element with text only: nothing in the data is ever taken for markup.
function element(tag, className, text) {
	const made = document.createElement(tag);
	if (className)
		made.className = className;
	if (text !== undefined)
		made.textContent = text;
	return made;
}

function svgElement(tag, attributes) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const key in attributes)
		made.setAttribute(key, attributes[key]);
	return made;
}

function time(ns) {
	const size = Math.abs(ns);
	const digits = (x) => x < 9.9995 ? 3 : x < 99.995 ? 2 : x < 999.95 ? 1 : 0;
	for (const [unit, scale] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
		if (size / scale >= 0.99995)
			return (ns / scale).toFixed(digits(size / scale)) + " " + unit;
	return Math.round(ns) + " ns";
}

function bytes(number) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
	let i = 0;
	for (; Math.abs(number) >= 1023.995 && i < 5; i++)
		number /= 1024;
	return (i ? number.toFixed(2) : number) + " " + units[i];
}

const count = (number) => number.toLocaleString("en");

// LEB128 numbers in base64: a function that gives the next one.
function numbers(base64) {
	const text = atob(base64);
	let at = 0;
	return () => {
		let value = 0, scale = 1;
		for (;;) {
			const byte = text.charCodeAt(at++);
			value += (byte & 127) * scale;
			if (byte < 128)
				return value;
			scale *= 128;
		}
	};
}

const signed = (number) => number % 2 ? -(number + 1) / 2 : number / 2;

const TIED = new Set(["stream", "driver", "runtime"]);

// Start, end, name, count, busy of each item of a lane; of calls and of work on the GPU also the
// number of the details (0: none) and the correlation id (0: none).
function unpack(lane) {
	const number = numbers(lane.data), n = lane.items;
	const items = {
		start: new Float64Array(n), end: new Float64Array(n), name: new Uint32Array(n),
		count: new Uint32Array(n), busy: new Float64Array(n), length: n,
		detail: new Uint32Array(TIED.has(lane.kind) ? n : 0), correlation: new Float64Array(TIED.has(lane.kind) ? n : 0),
	};
	let before = 0, correlation = 0;
	for (let i = 0; i < n; i++) {
		const start = before + signed(number());
		items.start[i] = start;
		items.end[i] = before = start + number();
		items.name[i] = number();
		items.count[i] = number() + 1;
		items.busy[i] = items.count[i] > 1 ? number() : items.end[i] - items.start[i];
		if (items.count[i] === 1 && items.detail.length) {
			items.detail[i] = number();
			items.correlation[i] = correlation += signed(number());
		}
	}
	lane.data = null;
	return items;
}

const NICE = { stream: "stream", waits: "waits", driver: "driver calls", runtime: "runtime calls",
	ranges: "NVTX", states: "state", others: "others" };
const ORDER = ["stream", "waits", "ranges", "runtime", "driver", "states", "others"];

function laneLabel(lane) {
	const merged = count(lane.merged) + " more ";
	if (lane.kind === "others")
		return merged + "streams and threads";
	if (lane.merged)
		return lane.kind === "stream" ? "GPU " + lane.device + " " + merged + "streams" :
			merged + "threads, " + NICE[lane.kind];
	if (lane.kind === "stream")
		return "GPU " + lane.device + " stream " + lane.number;
	if (lane.kind === "waits")
		return NICE[lane.kind];
	return "thread " + lane.number + " " + NICE[lane.kind];
}

const lanes = data.timeline.lanes.map((lane) => ({
	kind: lane.kind, device: lane.device, number: lane.number, process: lane.process,
	merged: lane.merged, label: laneLabel(lane), items: unpack(lane),
}));
lanes.sort((a, b) => a.process < b.process ? -1 : a.process > b.process ? 1 :
	ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || a.device - b.device ||
	(a.merged > 0) - (b.merged > 0) || a.number - b.number);
