// SPDX-License-Identifier: BSD-2-Clause
// Tables from rows of objects. Names of columns say how numbers are shown, as in report --json:
// ..._ns, ..._bytes, ..._pct.
"use strict";
const tables = (() => {
	const PLAIN = new Set(["pid", "tid", "uid", "device", "stream", "graph", "code", "cupti"]);

	function shown(key, value) {
		if (value === null || value === undefined)
			return "";
		if (typeof value !== "number")
			return String(value);
		if (key.endsWith("_ns"))
			return time(value);
		if (key.endsWith("_bytes"))
			return bytes(value);
		if (key.endsWith("_pct"))
			return value.toFixed(1) + " %";
		return PLAIN.has(key) ? String(value) : count(value);
	}

	const heading = (key) => key.replace(/_(ns|bytes|pct)$/, "").replace(/_/g, " ");

	// A histogram of durations: one bar a quarter of an octave, height by square root, so that the
	// few long ones are seen beside the many short ones.
	function spark(histogram) {
		const svg = svgElement("svg", { class: "spark", width: 120, height: 18, role: "img", "aria-label": "No durations" });
		if (!histogram || !histogram.length)
			return svg;
		const often = histogram.reduce((best, bar) => bar[1] > best[1] ? bar : best);
		svg.setAttribute("aria-label", "Durations from " + time(histogram[0][0]) + " to " +
			time(histogram[histogram.length - 1][0]) + ", most often " + time(often[0]));
		const low = Math.log2(Math.max(1, histogram[0][0])) * 4;
		const high = Math.log2(Math.max(1, histogram[histogram.length - 1][0])) * 4;
		const bars = Math.max(1, Math.round(high - low) + 1);
		const most = Math.max(...histogram.map((bar) => bar[1])), wide = Math.min(12, 120 / bars);
		for (const [floor, kernels] of histogram) {
			const i = Math.round(Math.log2(Math.max(1, floor)) * 4 - low);
			const height = Math.max(1, 18 * Math.sqrt(kernels / most));
			const bar = svgElement("rect", { x: i * wide, y: 18 - height, width: Math.max(1, wide - 1), height });
			const title = svgElement("title", {});
			title.textContent = "from " + time(floor) + ": " + count(kernels);
			bar.append(title);
			svg.append(bar);
		}
		return svg;
	}

	function make(rows, title, histograms) {
		const keys = Object.keys(rows[0]).filter((key) => key !== "table");
		const box = element("div", "scroll"), table = element("table"), head = element("thead");
		const body = element("tbody"), line = element("tr");
		const numeric = (key) => rows.some((row) => typeof row[key] === "number");
		let sorted = null, down = true;
		box.tabIndex = 0;
		box.setAttribute("role", "region");
		box.setAttribute("aria-label", "Table: " + title);

		function fill() {
			body.replaceChildren(...rows.map((row) => {
				const tr = element("tr");
				for (const key of keys) {
					const td = element("td", numeric(key) ? "number" : "text", shown(key, row[key]));
					if (typeof row[key] === "number" && key.endsWith("_ns"))
						td.title = count(row[key]) + " ns";
					tr.append(td);
				}
				if (histograms) {
					const td = element("td");
					td.append(spark(histograms[row.kernel]));
					tr.append(td);
				}
				return tr;
			}));
		}

		for (const key of keys) {
			const th = element("th", numeric(key) ? "" : "text"), button = element("button", "", heading(key));
			button.type = "button";
			button.addEventListener("click", () => {
				down = sorted === key ? !down : numeric(key);
				sorted = key;
				rows.sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) * (down ? -1 : 1));
				fill();
				line.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
				th.setAttribute("aria-sort", down ? "descending" : "ascending");
			});
			th.append(button);
			line.append(th);
		}
		if (histograms)
			line.append(element("th", "text", "durations"));
		head.append(line);
		fill();
		table.append(head, body);
		box.append(table);
		return box;
	}

	function memoryChart(series) {
		const box = byId("memory-chart");
		for (const { process, device, levels } of series) {
			// Without the injection library nobody knows where it is.
			const gpu = device === 4294967295 ? "" : ", GPU " + device;
			const most = Math.max(1, ...levels.map((level) => level[1]));
			const begin = data.timeline.begin, span = Math.max(1, data.timeline.end - begin);
			const svg = svgElement("svg", { class: "chart", viewBox: "0 0 1000 190", preserveAspectRatio: "none", role: "img",
				"aria-label": "Live memory of " + process + gpu + " over time" });
			let path = "M0 180", y = 180;
			for (const [when, live] of levels) {
				const x = Math.min(1000, Math.max(0, 1000 * (when - begin) / span));
				path += "L" + x.toFixed(2) + " " + y;
				y = (180 - 165 * live / most).toFixed(2);
				path += "L" + x.toFixed(2) + " " + y;
			}
			svg.append(svgElement("path", { d: path + "L1000 " + y }));
			const label = svgElement("title", {});
			label.textContent = "Live memory of " + process + gpu;
			svg.append(label);
			const chart = element("div", "chart"), levels_axis = element("div", "levels"), times = element("div", "times");
			for (const share of [1, 0.5, 0])
				levels_axis.append(element("span", "", bytes(Math.round(most * share))));
			for (const share of [0, 0.25, 0.5, 0.75, 1])
				times.append(element("span", "", time(Math.round(span * share))));
			for (const line of [15, 97.5, 180])
				svg.prepend(svgElement("path", { d: "M0 " + line + "L1000 " + line, class: "grid" }));
			chart.append(levels_axis, svg, times);
			box.append(element("h3", "", process + gpu + ": at most " + bytes(most) + " live"), chart);
		}
		byId("memory-section").hidden = !series.length;
	}

	return { make, memoryChart };
})();
