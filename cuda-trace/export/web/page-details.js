// SPDX-License-Identifier: BSD-2-Clause
// What a selected event is beside its name and time: a launch's shape, a copy's size, the call it
// came from with its stack and NVTX ranges; and where to draw the arrow between the two.
"use strict";
const details = (() => {
	const MEMORY = ["pageable", "pinned", "device", "array", "managed", "device static", "managed static"];
	const CALLS = new Set(["driver", "runtime"]);

	function detailOf(hit) {
		const number = hit.lane.items.detail[hit.item];
		return number ? data.timeline.details[number - 1] : null;
	}

	// Events of the same process with that correlation id. An id of 0 is none.
	function tied(process, correlation, kinds) {
		const found = [];
		for (const lane of correlation ? lanes : []) {
			if (lane.process !== process || !kinds.has(lane.kind))
				continue;
			const { correlation: ids } = lane.items;
			for (let i = ids.indexOf(correlation); i >= 0; i = ids.indexOf(correlation, i + 1))
				found.push({ lane, item: i });
		}
		return found;
	}

	// The call that a kernel, copy or graph came from: the outer one, where one made another.
	function launchOf(hit) {
		const calls = tied(hit.lane.process, hit.lane.items.correlation[hit.item], CALLS);
		return calls.find((call) => call.lane.kind === "runtime") || calls[0] || null;
	}

	// What a call made the GPU do, the earliest first.
	const workOf = (hit) => tied(hit.lane.process, hit.lane.items.correlation[hit.item], new Set(["stream"]))
		.sort((a, b) => a.lane.items.start[a.item] - b.lane.items.start[b.item]);

	// Names of the NVTX ranges that were open in a call's thread when it began, the outer first.
	// A row that several threads share does not say whose range is whose.
	function rangesAt(call) {
		const start = call.lane.items.start[call.item], found = [];
		for (const lane of call.lane.merged ? [] : lanes) {
			if (lane.kind !== "ranges" || lane.process !== call.lane.process || lane.number !== call.lane.number || lane.merged)
				continue;
			const { items } = lane;
			for (let i = 0; i < items.length && items.start[i] <= start; i++)
				if (items.end[i] >= start && items.count[i] === 1)
					found.push([items.start[i], -items.end[i], data.timeline.names[items.name[i]]]);
		}
		return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((range) => range[2]);
	}

	const threads = (x, y, z) => count(x) + " \u00d7 " + count(y) + " \u00d7 " + count(z);

	function shape([, , gridX, gridY, gridZ, blockX, blockY, blockZ, registers, fixed, dynamic, local, most, limit, filled]) {
		const rows = [["Grid", threads(gridX, gridY, gridZ)], ["Block", threads(blockX, blockY, blockZ)]];
		if (registers !== null)
			rows.push(["Registers", count(registers) + " a thread"]);
		if (fixed !== null && dynamic !== null)
			rows.push(["Shared memory", bytes(fixed + dynamic) + " a block (" + bytes(fixed) + " static, " + bytes(dynamic) + " dynamic)"]);
		if (local)
			rows.push(["Local memory", bytes(local) + " a thread"]);
		rows.push(["Occupancy", most === null ? "not known for this GPU" : most + " % theoretical" +
			(limit ? ", limited by " + limit : "") +
			(filled !== null && filled < most ? "; about " + filled + " % here: the grid is too small to fill the GPU" : "")]);
		return rows;
	}

	function copy([, size, from, to], ns) {
		const memory = (kind) => MEMORY[kind] || "?";
		return [["Bytes", bytes(size) + (ns > 0 ? ", " + (size / ns).toFixed(2) + " GB/s" : "")]]
			.concat(from === null || to === null ? [] : [["Memory", memory(from) + " \u2192 " + memory(to)]]);
	}

	// Rows of [term, text] or [term, text, event to go to].
	function rows(hit) {
		const { lane, item } = hit, { items } = lane;
		if (!TIED.has(lane.kind) || items.count[item] > 1)
			return [];
		const found = [], detail = detailOf(hit), isCall = CALLS.has(lane.kind);
		if (detail && detail[0] === "k")
			found.push(...shape(detail));
		else if (detail && detail[0] === "c")
			found.push(...copy(detail, items.end[item] - items.start[item]));
		else if (detail && detail[0] === "s")
			found.push(["Bytes", bytes(detail[1])], ["Value", String(detail[2])]);
		const call = isCall ? hit : launchOf(hit);
		if (!isCall) {
			if (call) {
				const began = call.lane.items.start[call.item], ended = call.lane.items.end[call.item];
				found.push(["Queue delay", items.start[item] >= ended ? time(items.start[item] - ended) + " after the call returned" :
					"none: it began before the call returned"]);
				found.push(["Launched by", data.timeline.names[call.lane.items.name[call.item]] + ", " + time(ended - began) + ", " +
					call.lane.label + ", " + time(items.start[item] - began) + " before", call]);
			} else {
				found.push(["Launched by", items.correlation[item] ? "a call that is not in the page" : "not known"]);
			}
		} else {
			const work = workOf(hit);
			if (work.length)
				found.push(["On the GPU", count(work.length) + (work.length > 1 ? " events, the first: " : " event: ") +
					data.timeline.names[work[0].lane.items.name[work[0].item]] + ", " + work[0].lane.label, work[0]]);
		}
		if (call) {
			const ranges = rangesAt(call), stack = detailOf(call);
			if (ranges.length)
				found.push(["NVTX range", ranges.join(" \u203a ")]);
			if (stack && stack[0] === "h" && stack.length > 1) {
				const [, operator, module, line, ...frames] = stack;
				found.push(...[["Operator", operator], ["Module", module], ["Line", line]].filter(([, text]) => text !== null));
				found.push(["Call stack", frames.join("\n")]);
			}
		}
		return found;
	}

	// The two ends of the arrow of what is selected: a call, and work on the GPU; null without one.
	function arrow(hit) {
		if (!hit || !hit.lane.items || !TIED.has(hit.lane.kind) || hit.lane.items.count[hit.item] > 1)
			return null;
		const isCall = CALLS.has(hit.lane.kind);
		const call = isCall ? hit : launchOf(hit), work = isCall ? workOf(hit)[0] : hit;
		return call && work ? { call, work } : null;
	}

	function show(hit, select) {
		const box = byId("selection");
		const list = hit && hit.lane.items && !hit.lane.points ? rows(hit) : [];
		box.hidden = !list.length;
		box.replaceChildren();
		for (const [term, text, target] of list) {
			const value = element("dd", term === "Call stack" ? "stack" : "", text);
			if (target) {
				const go = element("button", "", CALLS.has(target.lane.kind) ? "Go to the call (l)" : "Go to the GPU (l)");
				go.type = "button";
				go.addEventListener("click", () => select(target));
				value.append(" ", go);
			}
			box.append(element("dt", "", term), value);
		}
	}

	return { rows, arrow, show };
})();
