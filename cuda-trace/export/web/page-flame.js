// SPDX-License-Identifier: BSD-2-Clause
// The flame graph: process, GPU, stream, kernel; wider is longer. Buttons, so that Tab and Enter work.
"use strict";
const flame = (() => {
	const ROW = 20, LEAST = 0.0008;
	const nodes = data.flame.map(([parent, ns, kernels, name]) => ({ parent, ns, kernels, name, children: [] }));
	let top = 0, pattern = null;

	nodes.forEach((node, i) => {
		if (i)
			nodes[node.parent].children.push(i);
	});
	for (const node of nodes)
		node.children.sort((a, b) => nodes[b].ns - nodes[a].ns);

	function color(name) {
		let hash = 2166136261;
		for (let i = 0; i < name.length; i++)
			hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
		return "hsl(" + (20 + hash % 45) + " " + (65 + (hash >> 8) % 25) + "% " + (62 + (hash >> 16) % 14) + "%)";
	}

	function describe(node) {
		const share = nodes[0].ns ? (100 * node.ns / nodes[0].ns).toFixed(2) + " %, " : "";
		if (data.flame_samples)
			return node.name + "\n" + share + count(node.ns) + " samples";
		return node.name + "\n" + time(node.ns) + ", " + share + count(node.kernels) + " kernels";
	}

	function draw() {
		const box = byId("flames"), total = nodes.length ? nodes[top].ns : 0;
		let deepest = 0, left = 0;
		box.replaceChildren();
		function put(index, depth, start) {
			const node = nodes[index], share = node.ns / total;
			if (!(share >= LEAST)) {
				left++;
				return;
			}
			deepest = Math.max(deepest, depth);
			const frame = element("button", "frame", node.name);
			frame.type = "button";
			frame.style.left = 100 * start + "%";
			frame.style.width = "calc(" + 100 * share + "% - 1px)";
			frame.style.top = depth * ROW + "px";
			frame.style.background = color(node.name);
			frame.title = describe(node);
			frame.classList.toggle("hit", pattern !== null && pattern.test(node.name));
			frame.addEventListener("focus", () => byId("flame-detail").textContent = describe(node));
			frame.addEventListener("mouseenter", () => byId("flame-detail").textContent = describe(node));
			frame.addEventListener("click", () => zoom(index));
			box.append(frame);
			let at = start;
			for (const child of node.children) {
				put(child, depth + 1, at);
				at += nodes[child].ns / total;
			}
		}
		if (total > 0)
			put(top, 0, 0);
		box.style.height = (deepest + 1) * ROW + "px";
		const note = data.stack_period > 1 ?
			"Functions of the host are estimated from one in " + count(data.stack_period) + " launches; kernels are exact." : "";
		if (note)
			byId("flame-detail").textContent = note;
		if (!total)
			byId("flame-detail").textContent = "No kernels.";
		else if (left)
			byId("flame-detail").textContent = count(left) + " too narrow to be drawn: zoom in";
	}

	function zoom(index) {
		top = index;
		draw();
	}

	byId("flame-reset").addEventListener("click", () => zoom(0));
	return {
		draw, zoom,
		search: (text) => {
			try {
				pattern = text ? new RegExp(text, "i") : null;
			} catch (error) {
				pattern = null;
			}
			draw();
		},
	};
})();
