// SPDX-License-Identifier: BSD-2-Clause
// Put behind a page's own scripts by tests/export/html.bats: uses it as a person would, with keys, wheel
// and mouse, and leaves what happened as JSON in an element that --dump-dom shows.
"use strict";
const press = (key, target) => (target || document.body).dispatchEvent(
	new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const span = () => cudaTrace.timeline.range()[1] - cudaTrace.timeline.range()[0];
const result = {};
const canvas = byId("canvas");

// Pixels of the timeline that are not background: what is drawn there at all.
function drawn() {
	const { data: pixels, width } = canvas.getContext("2d").getImageData(0, 30, canvas.width, 60);
	let count = 0;
	for (let i = 0; i < pixels.length; i += 4)
		count += (i / 4) % width > 220 && Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) -
			Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 40;
	return count;
}

const at = (fraction) => {
	const box = canvas.getBoundingClientRect();
	return { clientX: box.left + 200 + (box.width - 200) * fraction, clientY: box.top + 35, bubbles: true, cancelable: true };
};

result.ready = document.documentElement.dataset.ready;
result.kernels = byId("card-kernels").textContent;
result.gpu = byId("card-gpu").textContent;
result.errors = byId("card-errors").textContent;
result.losses = document.getElementById("losses-note").hidden ? "" : byId("losses-note").textContent;
result.events = lanes.reduce((sum, lane) => sum + lane.items.count.reduce((a, b) => a + b, 0), 0);
result.kernel_ns = lanes.filter((lane) => lane.kind === "stream").reduce((sum, lane) => {
	for (let i = 0; i < lane.items.length; i++)
		if (data.timeline.categories[lane.items.name[i]] === "k")
			sum += lane.items.busy[i];
	return sum;
}, 0);
result.rows = document.querySelectorAll("#kernel-table tbody tr").length;
result.frames = document.querySelectorAll("#flames .frame").length;
result.stalls = data.stalls.length && [...document.querySelectorAll("#other-tables h3")].some((title) =>
	title.textContent.includes("PC samples")) ? data.stalls.length : 0;
result.frame = (document.querySelector("#flames .frame") || { title: "" }).title;
result.drawn = drawn();
const whole = span();
press("+");
press("+");
result.zoomed = whole / span();
const before = cudaTrace.timeline.range()[0];
press("ArrowRight");
result.moved = cudaTrace.timeline.range()[0] > before;
press("0");
result.all = span() === whole;
canvas.dispatchEvent(new WheelEvent("wheel", { ...at(0.5), deltaY: -400 }));
result.wheeled = whole / span();
press("0");
press("/");
result.searching = document.activeElement === byId("search");
byId("search").value = SEARCH;
byId("search").dispatchEvent(new Event("input", { bubbles: true }));
result.found = byId("found").textContent;
result.hits = document.querySelectorAll("#flames .frame.hit").length;
byId("search").blur();
press("n");
result.next = cudaTrace.timeline.selected();
byId("search").value = "(";
byId("search").dispatchEvent(new Event("input", { bubbles: true }));
result.nonsense = byId("found").textContent;
byId("search").value = "";
byId("search").dispatchEvent(new Event("input", { bubbles: true }));
// What lies on a lane's first 50 points, what the page shows there under the mouse, and which colours are seen.
function seenAt(lane, when) {
	const [from, to] = cudaTrace.timeline.range(), box = canvas.getBoundingClientRect();
	const x = 200 + (box.width - 200) * (when - from) / (to - from), y = 22 + 26 * timeline.rowOf(lane) + 20;
	canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y, bubbles: true }));
	cudaTrace.timeline.draw();
	return { detail: byId("detail").textContent,
		color: [...canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)].join() };
}
const middle = (points, i) => (points.start[i] + points.end[i]) / 2;
const listed = (points) => [...points.start.slice(0, 50)].map((start, i) =>
	[start, points.end[i], points.least[i], points.mean[i], points.most[i]]);
result.lanes = lanes.map((lane) => lane.label);
result.lanes_note = byId("lanes-note").hidden ? "" : byId("lanes-note").textContent;
result.groups = timeline.groups.map(({ process, open, lanes }) => ({ process, open, lanes: lanes.length }));
const tall = canvas.clientHeight;
press("c");
timeline.draw();
result.taller = canvas.clientHeight - tall;
press("c");
timeline.draw();
result.same = canvas.clientHeight === tall;
result.begin = data.timeline.begin;
result.samples_note = byId("samples-note").hidden ? "" : byId("samples-note").textContent;
result.counters = samples.counters.map((lane) => ({
	key: lane.key, unit: lane.unit, scale: lane.scale, below: lane.scaleLabel, count: lane.points.length,
	points: listed(lane.points), least: Math.min(...lane.points.least), most: Math.max(...lane.points.most),
	covered: lane.points.end.reduce((sum, end, i) => sum + end - lane.points.start[i], 0),
	mean: lane.points.mean.reduce((sum, mean, i) => sum + mean, 0) / lane.points.length,
}));
// What threads did, and what the page shows of it.
const states = lanes.filter((lane) => lane.kind === "states");
const state = ({ items }, i) => [items.start[i], items.end[i], data.timeline.names[items.name[i]]];
result.states = states.map((lane) => ({ number: lane.number, label: lane.label, items: [...lane.items.start.keys()].map((i) => state(lane, i)) }));
const longest = states.flatMap((lane) => [...lane.items.start.keys()].map((i) => ({ lane, i, ns: lane.items.end[i] - lane.items.start[i] })))
	.sort((a, b) => b.ns - a.ns)[0];
result.longest_state = longest ? { state: state(longest.lane, longest.i), seen: seenAt(longest.lane, middle(longest.lane.items, longest.i)) } : null;
// Each look draws everything once: of some lanes only.
const looked = samples.counters.slice(0, 4);
const lookAtAll = () => looked.map((lane) => seenAt(lane, middle(lane.points, lane.points.length - 1)));
result.seen = lookAtAll();
const stream = lanes.find((lane) => lane.kind === "stream");
result.kernel_detail = stream ? seenAt(stream, middle(stream.items, Math.floor(stream.items.length / 2))).detail : "";
const header = document.querySelector("#kernel-table th button");
if (header)
	header.click();
const dark = document.documentElement.classList.contains("dark");
press("t");
result.theme = document.documentElement.classList.contains("dark") !== dark;
result.seen_otherwise = lookAtAll();
const frame = document.querySelectorAll("#flames .frame")[1];
frame.click();
result.flame = document.querySelector("#flames .frame").textContent;
byId("flame-reset").click();
result.title = document.title;
result.foreign = [...document.querySelectorAll("[src],link[href]")].length;
result.injected = window.owned === undefined && !document.querySelector("img");
const timings = [];
// What else the machine does makes single ones longer, but not all of them.
for (let i = 0; i < 5 || (i < 40 && Math.min(...timings) > 200); i++) {
	const begin = performance.now();
	cudaTrace.timeline.draw();
	timings.push(performance.now() - begin);
}
result.draw_ms = Math.min(...timings);
const output = document.createElement("pre");
output.id = "result";
output.textContent = "RESULT" + JSON.stringify(result) + "END";
document.body.append(output);
