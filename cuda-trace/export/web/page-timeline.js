// SPDX-License-Identifier: BSD-2-Clause
// The timeline: one row of a canvas for each stream and thread. What falls on one pixel is drawn as
// one column whose height is how much of it was busy, so that any number of events draws fast.
"use strict";
const timeline = (() => {
	const ROW = 26, AXIS = 22, LEAST_SPAN = 10;
	const names = data.timeline.names, categories = data.timeline.categories;
	const begin = data.timeline.begin, end = Math.max(data.timeline.end, data.timeline.begin + 1);
	const canvas = byId("canvas"), box = byId("lanes"), context = canvas.getContext("2d");
	const COLORS = { k: "--kernel", c: "--copy", s: "--memset", g: "--graph", d: "--driver",
		r: "--runtime", w: "--wait", n: "--range", a: "--running", y: "--runnable", b: "--blocked", samples: "--counter" };
	let from = begin, to = end, width = 0, LABEL = 200, arrow = null, colors = {}, hits = null, selected = null, measure = null;
	let queued = false, rows = [];

	// Lanes by process. Of many, each process is one row at first: its streams on top of each other.
	const groups = [...new Set(lanes.map((lane) => lane.process))].map((process) => ({
		process, lanes: lanes.filter((lane) => lane.process === process), open: lanes.length <= 60,
	}));

	function arrange() {
		rows = [];
		for (const group of groups) {
			const open = group.open || groups.length === 1;
			if (groups.length > 1)
				rows.push({ group, lanes: open ? [] : group.lanes.filter((lane) => lane.kind === "stream") });
			if (open)
				rows.push(...group.lanes.map((lane) => ({ lanes: [lane] })));
		}
	}

	// Where a lane is drawn: its own row, or that of its process.
	const rowOf = (lane) => Math.max(rows.findIndex((row) => !row.group && row.lanes[0] === lane),
		rows.findIndex((row) => row.group && !row.group.open && row.group.lanes.includes(lane)));

	function toggle(chosen) {
		const open = !chosen.some((group) => group.open);
		chosen.forEach((group) => group.open = open);
		byId("fold").setAttribute("aria-expanded", groups.every((group) => group.open));
		arrange();
		redraw();
	}

	function readColors() {
		const style = getComputedStyle(document.documentElement);
		for (const key in COLORS)
			colors[key] = style.getPropertyValue(COLORS[key]).trim();
		for (const key of ["text", "faint", "line", "hit", "panel", "back", "accent"])
			colors["--" + key] = style.getPropertyValue("--" + key).trim();
	}

	const x = (at) => LABEL + (at - from) / (to - from) * (width - LABEL);
	const at = (px) => from + (px - LABEL) / (width - LABEL) * (to - from);

	// The first item that may reach into `time`: starts are in order, ends nearly so.
	function firstAt(items, time) {
		let low = 0, high = items.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (items.start[middle] < time)
				low = middle + 1;
			else
				high = middle;
		}
		if (items.reach === undefined) {
			items.reach = 0;
			for (let i = 0; i < items.length; i++)
				items.reach = Math.max(items.reach, items.end[i] - items.start[i]);
		}
		const early = time - items.reach;
		while (low > 0 && items.start[low - 1] >= early)
			low--;
		return low;
	}

	function drawColumn(px, y, share, color) {
		const height = Math.max(2, Math.min(1, share) * (ROW - 8));
		context.fillStyle = color;
		context.fillRect(px, y + ROW - 4 - height, 1, height);
	}

	function drawItem(item, items, left, right, y) {
		const name = items.name[item];
		const color = hits && hits[name] ? colors["--hit"] : colors[categories[name]];
		const share = items.count[item] > 1 ?
			Math.min(1, items.busy[item] / Math.max(1, items.end[item] - items.start[item])) : 1;
		const height = Math.max(2, share * (ROW - 8));
		context.globalAlpha = hits && !hits[name] ? 0.3 : 1;
		context.fillStyle = color;
		context.fillRect(left, y + ROW - 4 - height, Math.max(1, right - left - (right - left > 4 ? 1 : 0)), height);
		if (right - left > 40 && items.count[item] === 1) {
			context.globalAlpha = 1;
			context.fillStyle = colors["--back"];
			context.save();
			context.beginPath();
			context.rect(left, y, right - left - 4, ROW);
			context.clip();
			context.fillText(names[name], Math.max(left, LABEL) + 3, y + ROW / 2 + 4);
			context.restore();
		}
		context.globalAlpha = 1;
	}

	// What lies on a lane: events, or what was sampled.
	const spansOf = (lane) => lane.points || lane.items;

	function drawLane(lane, y) {
		const items = lane.items;
		let column = -1, busy = 0, best = 0, bestName = 0;
		const perPixel = (to - from) / (width - LABEL);
		function flush() {
			if (column >= LABEL) {
				context.globalAlpha = hits && !hits[bestName] ? 0.3 : 1;
				drawColumn(column, y, busy / perPixel, hits && hits[bestName] ?
					colors["--hit"] : colors[categories[bestName]]);
				context.globalAlpha = 1;
			}
			busy = best = 0;
		}
		for (let i = firstAt(items, from); i < items.length && items.start[i] <= to; i++) {
			if (items.end[i] < from)
				continue;
			const left = Math.max(LABEL, x(items.start[i])), right = Math.min(width, x(items.end[i]));
			if (right - left >= 2) {
				flush();
				column = -1;
				drawItem(i, items, left, right, y);
				continue;
			}
			const px = Math.floor(left);
			if (px !== column) {
				flush();
				column = px;
			}
			busy += items.busy[i];
			// A hit shows even where it shares its pixel.
			const weight = (items.end[i] - items.start[i] + 1) * (hits && hits[items.name[i]] ? 1e9 : 1);
			if (weight > best) {
				best = weight;
				bestName = items.name[i];
			}
		}
		flush();
	}

	function drawAxis() {
		const rough = (to - from) / Math.max(2, (width - LABEL) / 130);
		const scale = Math.pow(10, Math.floor(Math.log10(rough)));
		const step = [1, 2, 5, 10].map((f) => f * scale).find((s) => s >= rough) || rough;
		context.fillStyle = colors["--faint"];
		context.strokeStyle = colors["--line"];
		for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
			const px = Math.round(x(t)) + 0.5;
			context.beginPath();
			context.moveTo(px, AXIS - 6);
			context.lineTo(px, canvas.height);
			context.stroke();
			if (px + 3 + context.measureText(time(t)).width <= width)
				context.fillText(time(t), px + 3, AXIS - 8);
		}
	}

	// From the end of the call to the start of its work on the GPU.
	function drawArrow() {
		const ends = [arrow.call, arrow.work].map(({ lane, item }, i) => ({
			x: Math.min(width, Math.max(LABEL, x(i ? lane.items.start[item] : lane.items.end[item]))), row: rowOf(lane),
		}));
		if (ends[0].row < 0 || ends[1].row < 0)
			return;
		const [a, b] = ends.map((end) => ({ x: end.x, y: AXIS + end.row * ROW + ROW / 2 }));
		const bend = Math.max(12, Math.abs(b.x - a.x) / 2), down = b.y > a.y ? 1 : -1;
		context.strokeStyle = context.fillStyle = colors["--accent"];
		context.lineWidth = 2;
		context.beginPath();
		context.moveTo(a.x, a.y);
		context.bezierCurveTo(a.x + bend, a.y, b.x, b.y - down * Math.abs(b.y - a.y) / 2, b.x, b.y - down * 6);
		context.stroke();
		context.lineWidth = 1;
		context.beginPath();
		context.moveTo(b.x, b.y);
		context.lineTo(b.x - 4, b.y - down * 8);
		context.lineTo(b.x + 4, b.y - down * 8);
		context.fill();
	}

	function drawSelection() {
		if (arrow)
			drawArrow();
		if (selected) {
			const items = spansOf(selected.lane), i = selected.item;
			const y = AXIS + rowOf(selected.lane) * ROW;
			context.strokeStyle = colors["--text"];
			context.lineWidth = 2;
			context.strokeRect(Math.max(LABEL, x(items.start[i])), y + 3,
				Math.max(2, Math.min(width, x(items.end[i])) - Math.max(LABEL, x(items.start[i]))), ROW - 6);
			context.lineWidth = 1;
		}
		if (measure) {
			context.fillStyle = colors["--accent"];
			context.globalAlpha = 0.2;
			context.fillRect(x(measure.from), 0, x(measure.to) - x(measure.from), canvas.height);
			context.globalAlpha = 1;
		}
	}

	function labels(row) {
		const { group } = row;
		if (!group)
			return [row.lanes[0].label, row.lanes[0].scaleLabel || (groups.length > 1 ? "" : row.lanes[0].process)];
		return [(group.open ? "\u25be " : "\u25b8 ") + (group.process || "GPUs as a whole"),
			count(group.lanes.length) + " rows" + (group.open ? "" : ": click to see them")];
	}

	// Text that is cut where it does not fit; letters keep their width.
	function put(text, px, py, most) {
		if (context.measureText(text).width > most) {
			let low = 0, high = text.length;
			while (low < high) {
				const middle = (low + high + 1) >> 1;
				if (context.measureText(text.slice(0, middle) + "\u2026").width <= most)
					low = middle;
				else
					high = middle - 1;
			}
			text = text.slice(0, low) + "\u2026";
		}
		context.fillText(text, px, py);
	}

	// Selects an event, and says what it is; scrolls to it where it is out of sight.
	function select(hit, reveal) {
		selected = hit;
		arrow = details.arrow(hit);
		byId("detail").textContent = describe(hit);
		details.show(hit, (target) => select(target, true));
		if (hit && reveal) {
			const items = spansOf(hit.lane), middle = (items.start[hit.item] + items.end[hit.item]) / 2;
			const group = groups.find((one) => one.lanes.includes(hit.lane));
			if (group && groups.length > 1 && !group.open)
				toggle([group]);
			if (middle < from || middle > to)
				show(middle - (to - from) / 2, middle + (to - from) / 2);
			draw();
			const y = AXIS + rowOf(hit.lane) * ROW;
			if (y < box.scrollTop || y + ROW > box.scrollTop + box.clientHeight)
				box.scrollTop = y - box.clientHeight / 2;
		}
		redraw();
	}

	// The event before or behind the selected one in its row; without one, the first in sight.
	function step(by) {
		const lane = selected ? selected.lane : (rows.find((row) => !row.group) || { lanes: [] }).lanes[0];
		if (!lane || !spansOf(lane).length)
			return;
		const items = spansOf(lane), item = selected ? selected.item + by : Math.min(firstAt(items, from), items.length - 1);
		if (item >= 0 && item < items.length)
			select({ lane, item }, true);
	}

	// As wide as the selected event, with a little around it.
	function fill() {
		if (selected) {
			const items = spansOf(selected.lane), margin = (items.end[selected.item] - items.start[selected.item]) * 0.1 + 5;
			show(items.start[selected.item] - margin, items.end[selected.item] + margin);
		}
	}

	// What GPUs did in the measured time: of work that is only partly in it, that part.
	function measured() {
		let operations = 0, busy = 0;
		for (const { items } of lanes.filter((lane) => lane.kind === "stream"))
			for (let i = 0; i < items.length; i++) {
				const inside = Math.min(items.end[i], measure.to) - Math.max(items.start[i], measure.from);
				if (inside > 0) {
					operations += items.count[i];
					busy += items.busy[i] * inside / Math.max(1, items.end[i] - items.start[i]);
				}
			}
		byId("detail").textContent = `${time(measure.to - measure.from)} from ${time(measure.from)} to ${time(measure.to)}: ` +
			`${count(operations)} operations on GPUs, ${time(busy)} in sum`;
		redraw();
	}

	function measureSelected() {
		if (selected) {
			const items = spansOf(selected.lane);
			measure = { from: items.start[selected.item], to: items.end[selected.item] };
			measured();
		}
	}

	// The other end of the selected event's arrow.
	function follow() {
		if (arrow)
			select(selected.lane === arrow.call.lane && selected.item === arrow.call.item ? arrow.work : arrow.call, true);
	}

	function draw() {
		queued = false;
		const height = AXIS + rows.length * ROW + 4;
		// Browsers leave a canvas empty that is higher than 32,767.
		const ratio = Math.min(window.devicePixelRatio || 1, 32000 / height);
		width = Math.max(240, box.clientWidth);
		LABEL = Math.min(200, Math.round(width * 0.36));
		canvas.width = width * ratio;
		canvas.height = height * ratio;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.font = "11px system-ui, sans-serif";
		drawAxis();
		rows.forEach((row, i) => {
			const y = AXIS + i * ROW;
			if (i % 2) {
				context.fillStyle = colors["--panel"];
				context.globalAlpha = 0.5;
				context.fillRect(0, y, width, ROW);
				context.globalAlpha = 1;
			}
			for (const lane of row.lanes) {
				if (lane.points)
					samples.draw(context, lane, firstAt(lane.points, from),
						{ x, y, to, left: LABEL, right: width, row: ROW, color: colors.samples });
				else
					drawLane(lane, y);
			}
			const [label, below] = labels(row);
			context.fillStyle = colors["--back"];
			context.fillRect(0, y, LABEL - 2, ROW);
			context.fillStyle = colors["--text"];
			const indent = groups.length > 1 && !row.group ? 16 : 6;
			put(label, indent, y + (below ? 11 : 17), LABEL - 6 - indent);
			context.fillStyle = colors["--faint"];
			put(below, indent, y + 22, LABEL - 6 - indent);
		});
		drawSelection();
	}

	function redraw() {
		if (!queued) {
			queued = true;
			requestAnimationFrame(draw);
		}
	}

	function show(newFrom, newTo) {
		const whole = end - begin;
		let span = Math.min(Math.max(newTo - newFrom, LEAST_SPAN), whole);
		from = Math.min(Math.max(newFrom, begin), end - span);
		to = from + span;
		redraw();
	}

	function zoom(factor, center) {
		const middle = center === undefined ? (from + to) / 2 : center;
		show(middle - (middle - from) * factor, middle + (to - middle) * factor);
	}

	const move = (share) => show(from + (to - from) * share, to + (to - from) * share);

	const rowAt = (py) => rows[Math.floor((py - AXIS) / ROW)];

	function itemAt(px, py) {
		const row = rowAt(py);
		if (!row || px < LABEL)
			return null;
		const when = at(px), slack = (to - from) / (width - LABEL) * 1.5;
		let found = null, nearest = Infinity;
		for (const lane of row.lanes) {
			const spans = spansOf(lane);
			for (let i = firstAt(spans, when - slack); i < spans.length &&
				spans.start[i] <= when + slack; i++) {
				const away = Math.max(spans.start[i] - when, when - spans.end[i], 0);
				if (away <= slack && away <= nearest) {
					nearest = away;
					found = { lane, item: i };
				}
			}
		}
		return found;
	}

	function describe(hit) {
		if (!hit)
			return "\u00a0";
		if (hit.lane.points)
			return samples.describe(hit.lane, hit.item);
		const { items } = hit.lane, i = hit.item, span = items.end[i] - items.start[i];
		const where = hit.lane.process + ", " + hit.lane.label + ", at " + time(items.start[i]) +
			samples.during(hit.lane, firstAt, items.start[i], items.end[i]);
		if (items.count[i] > 1)
			return count(items.count[i]) + " events in " + time(span) + ", together " +
				time(items.busy[i]) + "; the longest: " + names[items.name[i]] + "\n" + where;
		return names[items.name[i]] + "\n" + time(span) + " (" + count(span) + " ns), " + where;
	}

	function search(text) {
		const output = byId("found");
		hits = null;
		output.textContent = "";
		if (text) {
			let pattern;
			try {
				pattern = new RegExp(text, "i");
			} catch (error) {
				output.textContent = "not a regular expression";
				return redraw();
			}
			hits = names.map((name) => pattern.test(name));
			let found = 0, sums = 0, total = 0;
			for (const lane of lanes)
				for (let i = 0; i < lane.items.length; i++)
					if (hits[lane.items.name[i]]) {
						if (lane.items.count[i] > 1) {
							sums++;
						} else {
							found++;
							total += lane.items.busy[i];
						}
					}
			output.textContent = count(found) + " found, " + time(total) +
				(sums ? "; and the longest of " + count(sums) + " sums" : "");
		}
		redraw();
	}

	// The next hit after the selected one, or after the left edge.
	function next() {
		if (!hits)
			return;
		const after = selected ? spansOf(selected.lane).start[selected.item] : from - 1;
		let best = null, first = null;
		for (const lane of lanes)
			for (let i = 0; i < lane.items.length; i++) {
				if (!hits[lane.items.name[i]])
					continue;
				const start = lane.items.start[i];
				if (!first || start < first.lane.items.start[first.item])
					first = { lane, item: i };
				if (start > after) {
					if (!best || start < best.lane.items.start[best.item])
						best = { lane, item: i };
					break;
				}
			}
		if (best || first)
			select(best || first, true);
	}

	function wire() {
		let drag = null;
		const place = (event) => {
			const rectangle = canvas.getBoundingClientRect();
			return [event.clientX - rectangle.left, event.clientY - rectangle.top];
		};
		canvas.addEventListener("wheel", (event) => {
			if (event.shiftKey)
				return;
			event.preventDefault();
			if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
				move(event.deltaX / 1000);
			else
				zoom(Math.pow(1.0015, event.deltaY), at(Math.max(LABEL, place(event)[0])));
		}, { passive: false });
		canvas.addEventListener("pointerdown", (event) => {
			const [px, py] = place(event);
			drag = { px, py, from, to, moved: false, measures: event.shiftKey, start: at(px) };
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", (event) => {
			const [px, py] = place(event);
			if (!drag) {
				const hit = itemAt(px, py);
				byId("detail").textContent = describe(hit || selected);
				return;
			}
			drag.moved = drag.moved || Math.abs(px - drag.px) > 3;
			if (drag.measures) {
				measure = { from: Math.min(drag.start, at(px)), to: Math.max(drag.start, at(px)) };
				byId("detail").textContent = time(measure.to - measure.from) + " from " +
					time(measure.from) + " to " + time(measure.to);
				redraw();
			} else if (drag.moved) {
				const shift = (drag.px - px) / (width - LABEL) * (drag.to - drag.from);
				show(drag.from + shift, drag.to + shift);
			}
		});
		canvas.addEventListener("pointerup", (event) => {
			const [px, py] = place(event);
			if (drag && drag.measures && drag.moved)
				measured();
			if (drag && !drag.moved && px < LABEL && rowAt(py) && rowAt(py).group) {
				toggle([rowAt(py).group]);
			} else if (drag && !drag.moved) {
				measure = null;
				select(itemAt(px, py));
			}
			drag = null;
		});
		canvas.addEventListener("dblclick", (event) => zoom(0.25, at(place(event)[0])));
		byId("in").addEventListener("click", () => zoom(0.5));
		byId("out").addEventListener("click", () => zoom(2));
		byId("all").addEventListener("click", () => show(begin, end));
		byId("fold").addEventListener("click", () => toggle(groups));
		byId("next").addEventListener("click", next);
		byId("search").addEventListener("input", (event) => search(event.target.value));
		byId("search").addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				next();
		});
		window.addEventListener("resize", redraw);
	}

	function key(event) {
		const actions = {
			"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show(begin, end),
			c: () => toggle(groups), ".": () => step(1), ",": () => step(-1), l: follow, f: fill, ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), n: next,
			w: () => zoom(0.5), s: () => zoom(2), a: () => move(-0.2), d: () => move(0.2), r: measureSelected,
			Escape: () => { measure = null; select(null); },
			Home: () => show(begin, begin + to - from), End: () => show(end - (to - from), end),
		};
		const action = actions[event.key];
		if (!action)
			return false;
		action();
		return true;
	}

	// Which streams and threads have no row of their own.
	function note() {
		const merged = lanes.reduce((sum, lane) => sum + (lane.merged || 0), 0);
		byId("fold").hidden = groups.length === 1;
		byId("fold").setAttribute("aria-expanded", groups.every((group) => group.open));
		byId("lanes-note").hidden = !merged;
		byId("lanes-note").textContent = count(merged) + " streams and threads have no row of their own: " +
			"those of a process share one (\u201cmore streams\u201d).";
	}

	readColors();
	arrange();
	note();
	wire();
	return {
		draw, rowOf, groups, select, search, show, zoom, key, next, describe, itemAt,
		recolor: () => { readColors(); redraw(); },
		range: () => [from, to],
		selected: () => selected && describe(selected),
	};
})();
