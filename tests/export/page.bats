#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What a person finds on the page of cuda-trace report --html: details of an event, advice, on small screens
# and with a screen reader. In a real browser without a screen.

load ../lib/helpers
load ../symbols/stacks/recorded

FEEDER=$B/tests/recording/store/feeder

setup() {
	requires chromium jq sqlite3
	cd "$BATS_TEST_TMPDIR" || return 1
}

browse() {
	HOME=$PWD timeout -k 5 60 chromium --headless --no-sandbox --disable-gpu --no-first-run \
		--user-data-dir="$PWD/chromium" --window-size=1400,2000 --enable-logging=stderr \
		--allow-file-access-from-files --virtual-time-budget=20000 --dump-dom "$1" 2>browser.log
}

# result FILE: the JSON between RESULT and END in a dumped page.
result() {
	grep -o 'RESULT{.*}END' "$1" | sed 's/^RESULT//; s/END$//' |
		python3 -c 'import html, sys; sys.stdout.write(html.unescape(sys.stdin.read()))' >result.json
	jq -e . result.json >/dev/null || { cat browser.log; fail "the page did not answer"; }
}

# evaluate PAGE SCRIPT: SCRIPT fills an object `result`.
evaluate() {
	{
		cat "$1"
		printf '<script>{ const result = {};\n%s\n' "$2"
		printf '%s\n' 'const pre = document.createElement("pre"); pre.textContent = "RESULT" + JSON.stringify(result) + "END";' \
			'document.body.append(pre); }</script>'
	} >evaluated.html
	browse "file://$PWD/evaluated.html" >dom.html
	run grep -E 'CONSOLE.*(Error|error|Refused)' browser.log
	assert_failure
	result dom.html
}

# look PAGE WIDTH light|dark [SCRIPT...]: what tests/export/look-page.js finds in a frame of that width.
look() {
	{
		cat "$1"
		for script in "${@:4}"; do
			printf '<script>'; cat "$script"; printf '</script>\n'
		done
		printf '<script>const THEME = "%s";\n' "$3"
		# An event is selected, so that its details are looked at, too.
		printf '%s\n' '{ const lane = lanes.find((one) => one.kind === "stream"); if (lane) timeline.select({ lane, item: 0 }, true); }'
		cat "$TOP/tests/export/look-page.js"
		echo '</script>'
	} >framed.html
	cat >frame.html <<-END
		<!DOCTYPE html><iframe src="framed.html" style="border: 0; width: $2px; height: 1800px"></iframe><script>
		addEventListener("message", (event) => { const pre = document.createElement("pre");
		pre.textContent = "RES" + "ULT" + event.data + "E" + "ND"; document.body.append(pre); });</script>
	END
	browse "file://$PWD/frame.html" >dom.html
	result dom.html
}

is() {
	assert_equal "$1: $(jq -r "$1" result.json)" "$1: $2"
}

@test "report --html (a kernel is selected) shows shape, occupancy, launch, queue delay, ranges and stack" {
	requires bpf sim
	ct record -q -g -e kernels,copies,nvtx,api -o r.db -- "$SIM" "$WORKLOADS/nvtx" >out
	ct report --html page.html r.db
	# The kernel in the middle, by its correlation id in the file.
	correlation=$(sqlite3 r.db 'SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start LIMIT 1 OFFSET 20')
	evaluate page.html "
		const lane = lanes.find((one) => one.kind === 'stream'), item = lane.items.correlation.indexOf($correlation);
		timeline.select({ lane, item }, true);
		const rows = () => Object.fromEntries([...document.querySelectorAll('#selection dt')].map((dt) =>
			[dt.textContent, dt.nextSibling.firstChild.textContent]));
		result.kernel = rows();
		const ends = details.arrow({ lane, item });
		result.arrow = [ends.call.lane.items.start[ends.call.item], ends.work.lane.items.start[ends.work.item]];
		const accent = () => { timeline.draw(); const canvas = byId('canvas'), at = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
			let found = 0; for (let i = 0; i < at.length; i += 4) found += at[i] === 11 && at[i + 1] === 98 && at[i + 2] === 196; return found; };
		timeline.show(ends.call.lane.items.start[ends.call.item] - 2000, ends.work.lane.items.end[item] + 2000);
		result.drawn = accent();
		timeline.key({ key: 'l' });
		result.call = rows();
		result.selected = timeline.selected();
		timeline.select(null);
		result.hidden = byId('selection').hidden;
		result.undrawn = accent();"
	is '.kernel.Grid' "$(sqlite3 r.db "SELECT gridX || ' × ' || gridY || ' × ' || gridZ FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = $correlation")"
	is '.kernel.Block' "$(sqlite3 r.db "SELECT blockX || ' × ' || blockY || ' × ' || blockZ FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = $correlation")"
	is '.kernel.Registers' "$(sqlite3 r.db "SELECT registersPerThread || ' a thread' FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = $correlation")"
	is '.kernel["Shared memory"] | test("^[0-9.]+ (B|KiB) a block")' true
	is '.kernel.Occupancy | test("^[0-9]+ % theoretical")' true
	is '.kernel["Queue delay"] | test("after the call returned|before the call returned")' true
	is '.kernel["Launched by"] | startswith("cuLaunchKernel")' true
	is '.kernel["Call stack"] | split("\n") | (.[0] | startswith("cuLaunchKernel")) and any(. == "main")' true
	# The innermost push range around the launch is the last one named.
	range=$(sqlite3 r.db "SELECT text FROM NVTX_EVENTS AS e JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON e.globalTid = r.globalTid
		AND e.start <= r.start AND e.end >= r.end WHERE r.correlationId = $correlation AND eventType IN (59, 60) ORDER BY e.start DESC LIMIT 1")
	is '.kernel["NVTX range"] | split(" › ") | last' "$range"
	is '.arrow | join(",")' "$(sqlite3 -separator , r.db "SELECT r.start, k.start FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
		JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r USING (correlationId) WHERE correlationId = $correlation")"
	is '.drawn > 20 and .undrawn == 0' true
	is '.call["On the GPU"] | startswith("1 event: empty")' true
	is '.selected | startswith("cuLaunchKernel")' true
	is .hidden true
}

@test "report --html (kernels of operators named as PyTorch's) shows operator, module and line" {
	requires bpf sim python3
	record_step 1
	ct report --html page.html r.db
	evaluate page.html "
		const lane = lanes.find((one) => one.kind === 'stream');
		result.kernels = [...lane.items.start.keys()].map((item) => { timeline.select({ lane, item }, true);
			const of = Object.fromEntries([...document.querySelectorAll('#selection dt')].map((dt) => [dt.textContent, dt.nextSibling.firstChild.textContent]));
			return [of.Operator, of.Module, of.Line, (of['Call stack'] || '').split('\\n')[0]]; });"
	is '.kernels | length' 8
	is '.kernels[0] | join(", ")' "aten::addmm, Model > Block > Linear, train.py:$(awk '$2 == "block" { print $3 }' rec.out) Block.forward, cuLaunchKernel"
	is '.kernels | map(.[0]) | sort | join(", ")' ", ReluBackward0, aten::add_, aten::addmm, aten::addmm, aten::mm, aten::ones_like, custom (train.py)"
}

@test "report --html (keys as in Perfetto, a measured range) zoom, move, sum up what GPUs did in it" {
	"$FEEDER" -n 2000 -k 5 r.db >expect
	ct report --html page.html r.db
	evaluate page.html '
		const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		const range = () => timeline.range(), span = () => range()[1] - range()[0], whole = span();
		press("w"); press("w"); result.zoomed = whole / span();
		let before = range()[0]; press("d"); result.right = range()[0] > before;
		before = range()[0]; press("a"); result.left = range()[0] < before;
		press("s"); result.out = whole / span();
		press("0");
		const canvas = byId("canvas"), box = canvas.getBoundingClientRect();
		const drag = (from, to) => { for (const [type, x] of [["pointerdown", from], ["pointermove", (from + to) / 2],
			["pointermove", to], ["pointerup", to]])
			canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + 30, shiftKey: true,
				bubbles: true, pointerId: 1 })); };
		canvas.setPointerCapture = () => {};
		drag(200, box.width);
		result.all = byId("detail").textContent;
		press("Escape"); result.nothing = byId("detail").textContent;
		const lane = lanes.find((one) => one.kind === "stream");
		timeline.select({ lane, item: 0 }, true);
		press("r"); result.one = byId("detail").textContent;
		result.duration = lane.items.end[0] - lane.items.start[0];
		const dark = document.documentElement.classList.contains("dark");
		press("t"); result.theme = document.documentElement.classList.contains("dark") !== dark;'
	is '.zoomed | . > 3.9 and . < 4.1' true
	is '.out | . > 1.9 and . < 2.1' true
	is '[.right, .left, .theme] | all' true
	is '.nothing | contains("operations")' false
	# Everything that ran on GPUs: kernels, copies, memsets, graphs as wholes.
	operations=$(sqlite3 r.db 'SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL) + (SELECT count(*) FROM
		CUPTI_ACTIVITY_KIND_MEMCPY) + (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET) +
		(SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE)')
	is '.all | capture(": (?<n>[0-9,]+) operations on GPUs").n | gsub(","; "") | tonumber' "$operations"
	is '.one | test(": [1-9][0-9]* operations? on GPUs")' true
}

@test "report --html (occupancy, sizes of copies, calls that are not recorded) says what is known" {
	"$FEEDER" -n 2000 -k 5 r.db >expect
	sqlite3 r.db 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = 256, registersPerThread = 64, gridX = 100000;
		UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = 3 << 20, srcKind = 1, dstKind = 2; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME'
	ct report --html page.html r.db
	evaluate page.html '
		const first = (category) => { for (const lane of lanes) for (let i = 0; i < lane.items.length; i++)
			if (data.timeline.categories[lane.items.name[i]] === category) return { lane, item: i }; };
		result.kernel = Object.fromEntries(details.rows(first("k")));
		result.copy = Object.fromEntries(details.rows(first("c")));
		result.arrow = details.arrow(first("k"));'
	is .kernel.Occupancy '50 % theoretical, limited by registers'
	is '.kernel["Launched by"]' 'a call that is not in the page'
	is '.copy.Bytes | startswith("3.00 MiB, ")' true
	is .copy.Memory 'pinned → device'
	is .arrow null
}

@test "report --html (advice, losses) has report's sentences, and counts lost records" {
	"$FEEDER" -n 60000 -k 2 -x lost r.db >expect
	ct report --html page.html r.db
	evaluate page.html 'result.advice = [...document.querySelectorAll("#advice li")].map((line) => line.textContent);
		result.lost = byId("card-losses").textContent; result.label = byId("card-losses").nextSibling.textContent;'
	ct report --json r.db >report.json
	assert [ "$(jq '.advice | length' report.json)" -gt 0 ]
	assert_equal "$(jq -c .advice result.json)" "$(jq -c .advice report.json)"
	is .lost "$(sqlite3 r.db 'SELECT sum(count) FROM CUDA_TRACE_LOST')"
	is .label 'records lost'
}

@test "report --html (420 px and narrower, light and dark) breaks no text by letters, names images, has contrast" {
	"$FEEDER" -n 3000 -k 12 -p 2 r.db >expect
	# Long names without a place to break, and a table with many columns.
	sqlite3 r.db "UPDATE StringIds SET value = value || 'Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>::Params' WHERE value GLOB 'void*'"
	ct report --html page.html r.db
	for width in 320 420 800 1400; do
		for theme in light dark; do
			look page.html $width $theme
			is .dark "$([ $theme = dark ] && echo true || echo false)"
			is '.broken | join("\n")' ''
			is '.wider <= 0 and .canvas' true
			is '.unnamed | join("\n")' ''
			is '.pale | join("\n")' ''
		done
	done
}

# consumer: axe-core | itself | no violation of accessibility rules in the page
@test "report --html (axe-core, the real one) has no violations in light and dark, 320 to 1,400 px" {
	requires chromium
	local axe=$B/npm/node_modules/axe-core/axe.min.js
	[ -e "$axe" ] || skip "needs axe-core (mk/npm-packages)"
	"$FEEDER" -n 2000 -k 5 -p 2 r.db >expect
	ct report --html page.html r.db
	for width in 320 420 800 1400; do
		for theme in light dark; do
			look page.html $width $theme "$axe"
			is '.axe | join("\n")' ''
		done
	done
}

@test "report --flamegraph (a window of another size) scales with it" {
	"$FEEDER" -n 2000 -k 5 r.db >expect
	ct report --flamegraph flame.svg r.db
	cp flame.svg page.svg
	for width in 420 900 1800; do
		cat >frame.html <<-END
			<!DOCTYPE html><iframe id="f" src="page.svg" style="border: 0; width: ${width}px; height: 700px"></iframe><script>
			document.getElementById("f").addEventListener("load", (event) => {
			const svg = event.target.contentDocument.documentElement, box = svg.querySelector("#frames rect").getBoundingClientRect();
			const pre = document.createElement("pre"), root = event.target.contentDocument.scrollingElement || svg;
			pre.textContent = "RES" + "ULT" + JSON.stringify({ width: box.width, wider: root.scrollWidth - $width }) + "E" + "ND";
			document.body.append(pre); });</script>
		END
		browse "file://$PWD/frame.html" >dom.html
		result dom.html
		is ".width / $width | . > 0.93 and . < 1" true
		is '.wider <= 0' true
	done
}
