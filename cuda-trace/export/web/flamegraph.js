// SPDX-License-Identifier: BSD-2-Clause
// Zoom and search inside a flame graph's SVG file.
(function () {
	"use strict";
	const LEFT = 10, WIDTH = 1200, CHARACTER = 6.6;
	const message = document.getElementById("m");
	const frames = [...document.querySelectorAll("#frames > g.f")].map((g) => {
		const title = g.querySelector("title").textContent;
		return {
			g, title, name: title.slice(0, title.lastIndexOf("\n")),
			rect: g.querySelector("rect"), label: g.querySelector("text"),
			x: +g.dataset.x, w: +g.dataset.w,
			y: +g.querySelector("rect").getAttribute("y"),
		};
	});

	function place(frame, x, w) {
		frame.g.style.display = x + w <= LEFT || x >= LEFT + WIDTH || w < 0.3 ? "none" : "";
		frame.rect.setAttribute("x", x);
		frame.rect.setAttribute("width", Math.max(0, w));
		const fits = Math.floor((w - 6) / CHARACTER);
		if (!frame.label && fits >= 3) {
			frame.label = document.createElementNS("http://www.w3.org/2000/svg", "text");
			frame.label.setAttribute("y", frame.y + 13);
			frame.g.append(frame.label);
		}
		if (!frame.label)
			return;
		frame.label.setAttribute("x", Math.max(x, LEFT) + 3);
		frame.label.textContent = fits < 3 ? "" :
			frame.name.length > fits ? frame.name.slice(0, fits - 1) + "\u2026" : frame.name;
	}

	function zoom(target) {
		const scale = WIDTH / target.w;
		for (const frame of frames) {
			const above = frame.y < target.y && frame.x <= target.x + 1e-6 &&
				frame.x + frame.w >= target.x + target.w - 1e-6;
			frame.g.classList.toggle("dim", above);
			if (above)
				place(frame, LEFT, WIDTH);
			else if (frame.y < target.y)
				frame.g.style.display = "none";
			else
				place(frame, LEFT + (frame.x - target.x) * scale, frame.w * scale);
		}
	}

	function search(text) {
		let pattern = null, hits = 0;
		try {
			pattern = text ? new RegExp(text, "i") : null;
		} catch (error) {
			message.textContent = "not a regular expression: " + text;
			return;
		}
		let sum = 0, edge = {};
		for (const frame of frames) {
			const hit = pattern !== null && pattern.test(frame.name);
			frame.g.classList.toggle("hit", hit);
			hits += hit;
			// What lies below a hit is in its width already.
			if (hit && !(edge.x <= frame.x && frame.x + frame.w <= edge.end + 1e-6)) {
				sum += frame.w;
				edge = { x: frame.x, end: frame.x + frame.w };
			}
		}
		message.textContent = pattern ?
			hits + " found, " + (100 * sum / WIDTH).toFixed(2) + " % of the time" : "";
	}

	function ask() {
		const text = window.prompt("Search (regular expression)", "");
		if (text !== null)
			search(text);
	}

	for (const frame of frames) {
		frame.g.setAttribute("tabindex", "0");
		frame.g.addEventListener("click", () => zoom(frame));
		frame.g.addEventListener("keydown", (event) => {
			if (event.key === "Enter" || event.key === " ")
				zoom(frame);
		});
	}
	document.getElementById("q").addEventListener("click", ask);
	document.getElementById("r").addEventListener("click", () => {
		zoom(frames[0]);
		search("");
	});
	window.addEventListener("keydown", (event) => {
		if (event.key === "/" || (event.ctrlKey && event.key === "f")) {
			event.preventDefault();
			ask();
		} else if (event.key === "Escape") {
			zoom(frames[0]);
			search("");
		}
	});
	window.flamegraph = { search, zoom: (name) => zoom(frames.find((f) => f.name === name)) };
})();
