// SPDX-License-Identifier: BSD-2-Clause
// Puts the page together.
"use strict";
(() => {
	const sum = (rows, key) => rows.reduce((total, row) => total + (row[key] || 0), 0);

	function head() {
		byId("title").textContent = data.command || data.file;
		document.title = "cuda-trace: " + (data.command || data.file);
		byId("about").textContent = [data.file, data.utc && data.utc + " UTC", data.host, data.gpus]
			.filter(Boolean).join(" \u00b7 ");
		byId("footer").textContent = "Written by " + data.tool + ".";
	}

	function card(value, label, id) {
		const box = element("div", "card"), number = element("b", "", value);
		number.id = id;
		box.append(number, element("span", "", label));
		byId("cards").append(box);
	}

	function cards() {
		card(time(data.duration_ns), "recorded", "card-duration");
		card(count(sum(data.kernels, "kernels")), "kernels", "card-kernels");
		card(time(sum(data.kernels, "total_ns")), "time in kernels", "card-gpu");
		if (data.copies.length)
			card(count(sum(data.copies, "copies")), bytes(sum(data.copies, "total_bytes")) + " copied", "card-copies");
		card(count(sum(data.api, "calls")), "calls", "card-calls");
		card(count(sum(data.errors, "failures")), "failed calls", "card-errors");
		card(count(sum(data.losses, "lost")), data.losses.length ? "records lost" : "records lost: nothing is missing", "card-losses");
	}

	function share(label, part, whole, color) {
		const line = element("div", "share"), bar = element("div"), fill = element("i");
		fill.style.width = (whole > 0 ? Math.min(100, 100 * part / whole) : 0) + "%";
		fill.style.background = "var(" + color + ")";
		bar.append(fill);
		line.append(element("span", "", label), bar,
			element("span", "", time(part) + (whole > 0 ? " (" + (100 * part / whole).toFixed(1) + " %)" : "")));
		byId("shares").append(line);
	}

	// Of each GPU, all in the same window; what the host did is of many threads, and no share of it.
	function shares() {
		const numbers = data.idle.map((gpu) => gpu.device);
		for (const gpu of data.idle) {
			const alike = numbers.filter((number) => number === gpu.device).length > 1;
			const name = "GPU " + gpu.device + (alike && gpu.uuid ? " (" + gpu.uuid.slice(0, 12) + ")" : "");
			share(name + " busy", gpu.busy_ns, gpu.span_ns, "--kernel");
			if (gpu.copy_ns)
				share(name + " copying", gpu.copy_ns, gpu.span_ns, "--copy");
			share(name + " idle", gpu.idle_ns, gpu.span_ns, "--range");
		}
		const window = data.idle.length ? data.idle[0].span_ns : data.duration_ns;
		if (data.sync.length)
			threads("host waiting", sum(data.sync, "total_ns"), window);
		// Calls of the runtime make calls of the driver: each counts what the other does, too.
		for (const api of ["runtime", "driver"]) {
			const calls = data.api.filter((call) => call.api === api);
			if (calls.length)
				threads("in " + api + " calls", sum(calls, "total_ns"), window);
		}
	}

	function threads(label, part, whole) {
		const line = element("div", "share");
		line.append(element("span", "", label), element("div", "none"), element("span", "", time(part) +
			(whole > 0 ? ", " + (part / whole).toFixed(2) + " threads on average" : "")));
		byId("shares").append(line);
	}

	// The sentences that report ends with.
	function advice() {
		byId("advice").hidden = !data.advice.length;
		byId("advice").append(...data.advice.map((text) => {
			const end = text.indexOf(":"), line = element("li");
			line.append(element("b", "", text.slice(0, end + 1)), text.slice(end + 1));
			return line;
		}));
	}

	function losses() {
		const note = byId("losses-note");
		const invalid = data.timeline.invalid;
		if (!data.losses.length && !invalid)
			return;
		note.hidden = false;
		note.append(element("b", "", "Not everything is here."));
		for (const loss of data.losses)
			note.append(element("div", "", count(loss.lost) + " lost: " + loss.meaning));
		if (invalid)
			note.append(element("div", "", count(invalid) + " events have impossible times and are left out"));
	}

	function others() {
		const titles = { launches: "Launches whose GPU time is not known", "copy-calls": "Copies whose GPU time is not known", api: "Calls of the CUDA API", copies: "Copies", memsets: "Memsets", memory: "Memory",
			sync: "Waiting of the host", graphs: "CUDA graphs", nvtx: "NVTX ranges", stalls: "What warps waited for (PC samples)", errors: "Calls that failed",
			losses: "Losses", processes: "Processes", idle: "How busy each GPU was, with the work of all processes" };
		byId("kernel-table").append(data.kernels.length ?
			tables.make(data.kernels, "Kernels", data.histograms) : element("p", "", "No kernels."));
		for (const key in titles)
			if (data[key].length)
				byId("other-tables").append(element("h3", "", titles[key]), tables.make(data[key], titles[key]));
		tables.memoryChart(data.memory_levels);
	}

	function theme() {
		const root = document.documentElement;
		const prefers = window.matchMedia("(prefers-color-scheme: dark)");
		const set = (dark) => {
			root.classList.toggle("dark", dark);
			timeline.recolor();
		};
		set(prefers.matches);
		prefers.addEventListener("change", (event) => set(event.matches));
		byId("theme").addEventListener("click", () => set(!root.classList.contains("dark")));
		window.addEventListener("beforeprint", () => { timeline.recolor(); timeline.draw(); });
	}

	function keys() {
		window.addEventListener("keydown", (event) => {
			if (event.ctrlKey || event.metaKey || event.altKey)
				return;
			if (event.target.tagName === "INPUT") {
				if (event.key === "Escape")
					event.target.blur();
				return;
			}
			if (event.key === "/") {
				byId("search").focus();
				event.preventDefault();
			} else if (event.key === "t") {
				byId("theme").click();
			} else if ((event.target === byId("lanes") || event.target === document.body) && timeline.key(event)) {
				event.preventDefault();
			}
		});
		byId("search").addEventListener("input", (event) => flame.search(event.target.value));
	}

	head();
	losses();
	cards();
	shares();
	advice();
	others();
	theme();
	keys();
	samples.note();
	flame.draw();
	timeline.draw();
	if (data.timeline.cell)
		byId("detail").textContent = count(data.timeline.events) + " events; those shorter than " +
			time(data.timeline.cell) + " are summed up in steps of that length.";
	window.cudaTrace = { data, lanes, samples, timeline, flame };
	document.documentElement.dataset.ready = "yes";
})();
