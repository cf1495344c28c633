// SPDX-License-Identifier: BSD-2-Clause
// Put behind a page's own scripts by tests/export/page.bats, in a frame of some width: looks for what readers
// with a small screen or a screen reader would miss, and sends what it saw to the page around the frame.
"use strict";
const toDark = document.documentElement.classList.contains("dark") !== (THEME === "dark");
if (toDark)
	byId("theme").click();

function nameOf(node) {
	const by = node.getAttribute("aria-labelledby");
	const label = node.labels && node.labels[0];
	return (node.getAttribute("aria-label") || (by && byId(by) ? byId(by).textContent : "") || (label ? label.textContent : "") ||
		node.getAttribute("alt") || node.title || (node.matches("svg, canvas, input") ? "" : node.textContent)).trim();
}

const visible = (node) => !node.closest("[hidden]") && node.getClientRects().length > 0 && getComputedStyle(node).visibility !== "hidden";

// Elements that have text of their own: [element, text node].
function texts() {
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
	for (let node = walker.nextNode(); node; node = walker.nextNode())
		if (node.textContent.trim() && !node.parentElement.matches("script, style, .skip") && visible(node.parentElement))
			found.push([node.parentElement, node]);
	return found;
}

const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function rgb(color) {
	paint.clearRect(0, 0, 1, 1);
	paint.fillStyle = color;
	paint.fillRect(0, 0, 1, 1);
	return [...paint.getImageData(0, 0, 1, 1).data];
}

const light = (color) => color.slice(0, 3).map((part) => part / 255)
	.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
	.reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);

function contrast(node) {
	let behind = node;
	while (behind.parentElement && rgb(getComputedStyle(behind).backgroundColor)[3] < 255)
		behind = behind.parentElement;
	const back = rgb(getComputedStyle(behind).backgroundColor);
	const [a, b] = [light(rgb(getComputedStyle(node).color)), light(back[3] < 255 ? [255, 255, 255] : back)];
	return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

// Letters a line of a text that has more lines than words: it is broken inside of words.
function lettersALine(node) {
	const range = document.createRange();
	range.selectNodeContents(node);
	const lines = new Set([...range.getClientRects()].map((rect) => Math.round(rect.top)));
	const text = node.textContent.trim();
	return lines.size > text.split(/[\s-]+/).length ? text.length / lines.size : Infinity;
}

async function look() {
	const result = {};
	result.broken = texts().filter(([, node]) => !node.textContent.includes("\n") && lettersALine(node) < 6).map(([, node]) => node.textContent);
	result.wider = document.scrollingElement.scrollWidth - window.innerWidth;
	result.unnamed = [...document.querySelectorAll("svg, img, a, button, input, [role]:not([role=alert])")]
		.filter((node) => visible(node) && !node.closest("[aria-hidden=true]") && !nameOf(node)).map((node) => node.outerHTML.slice(0, 100));
	result.pale = texts().filter(([node]) => !node.closest("svg") && contrast(node) < 4.5).map(([node]) => node.outerHTML.slice(0, 100));
	result.canvas = canvas.getBoundingClientRect().width <= window.innerWidth;
	result.dark = document.documentElement.classList.contains("dark");
	if (window.axe)
		result.axe = (await axe.run(document, { resultTypes: ["violations"] })).violations.map((found) => found.id + " " + found.nodes[0].html.slice(0, 100));
	return result;
}

look().then((result) => parent.postMessage(JSON.stringify(result), "*"),
	(error) => parent.postMessage(JSON.stringify({ error: String(error) }), "*"));
