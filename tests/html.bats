#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --html and --flamegraph, in a real browser without a screen.

load helpers

FEEDER=$B/tests/store/feeder

setup() {
	requires chromium jq
	cd "$BATS_TEST_TMPDIR" || return 1
}

# browse FILE ARGS...: chromium, in a home of its own, for at most a minute.
browse() {
	HOME=$PWD timeout -k 5 60 chromium --headless --no-sandbox --disable-gpu --no-first-run \
		--user-data-dir="$PWD/chromium" --window-size=1400,1000 --enable-logging=stderr \
		--allow-file-access-from-files "${@:2}" "$1" 2>browser.log
}

# drive PAGE SEARCH: tests/store/drive-page.js uses the page; what it saw is in result.json.
drive() {
	{
		cat "$1"
		printf '<script>const SEARCH = %s;\n' "$(jq -Rn --arg s "$2" '$s')"
		cat "$TOP/tests/store/drive-page.js"
		echo '</script>'
	} >driven.html
	browse "file://$PWD/driven.html" --virtual-time-budget=20000 --dump-dom >dom.html
	run grep -E 'CONSOLE.*(Error|error|Refused)' browser.log
	assert_failure
	grep -o 'RESULT{.*}END' dom.html | sed 's/^RESULT//; s/END$//' |
		python3 -c 'import html, sys; sys.stdout.write(html.unescape(sys.stdin.read()))' >result.json
	jq -e . result.json >/dev/null || { cat browser.log; fail "the page did not answer"; }
}

is() {
	assert_equal "$1: $(jq -r "$1" result.json)" "$1: $2"
}

@test "report --html (2,000 launches) shows the right numbers, zooms, searches" {
	"$FEEDER" -n 2000 -k 5 r.db >expect
	ct report --html page.html r.db
	drive page.html 'kernel<3>'
	is .ready yes
	is .kernels 2,000
	is .kernel_ns "$(expect_key expect kernel_time)"
	is .errors "$(expect_key expect failed)"
	is .losses ''
	is .rows 5
	# Launches, kernels, and the seven kinds that come every 50th time.
	is .events $((2 * 2000 + 40 * 6))
	is .found "$(jq -rn '"400 found, " ')$(ct report --json --kernels r.db |
		jq -r 'select(.kernel | contains("kernel<3>")) | .total_ns / 1000 * 10 | round / 10 | tostring + " µs"')"
	is .nonsense 'not a regular expression'
	is '.zoomed | . > 3.9 and . < 4.1' true
	is '.wheeled > 1.5' true
	is '.drawn > 500' true
	is '.hits > 0' true
	is '.next | contains("kernel<3>")' true
	is '[.moved, .all, .searching, .theme, .injected] | all' true
	is .flame 'feeder (1000)'
	is .foreign 0
}

@test "report --html (hostile names, losses) runs nothing of theirs and tells the loss" {
	"$FEEDER" -n 600 -k 12 -x hostile r.db >expect
	ct report --html page.html r.db
	drive page.html 'owned'
	is .kernels 600
	is .injected true
	is .title 'cuda-trace: feeder --made-up'
	rm -f r.db
	"$FEEDER" -n 100 -x lost r.db >expect
	ct report --html page.html r.db
	drive page.html 'x'
	is '.losses | contains("7 lost")' true
}

@test "report --html (a million events) draws in a blink" {
	"$FEEDER" -n 500000 r.db >expect
	ct report --html page.html r.db
	drive page.html 'kernel<7>'
	is .kernels 500,000
	is .events $((2 * 500000 + 10000 * 6))
	is .kernel_ns "$(expect_key expect kernel_time)"
	is '.draw_ms < 250' true
	assert [ "$(stat -c %s page.html)" -lt 20000000 ]
}

@test "report --html (more events than a page holds) sums up, and loses none" {
	"$FEEDER" -n 700000 r.db >expect
	ct report --html page.html r.db
	drive page.html 'kernel<7>'
	is .kernels 700,000
	is .events $((2 * 700000 + 14000 * 6))
	assert [ "$(stat -c %s page.html)" -lt 20000000 ]
}

@test "report --html (nothing was recorded) is a page that says so" {
	"$FEEDER" -n 0 r.db >expect
	ct report --html page.html r.db
	browse "file://$PWD/page.html" --virtual-time-budget=5000 --dump-dom >dom.html
	grep -q 'data-ready="yes"' dom.html
	grep -q 'No kernels' dom.html
}

@test "report --html (printed) is some pages of PDF" {
	requires pdfinfo pdftotext
	"$FEEDER" -n 500 r.db >expect
	ct report --html page.html r.db
	browse "file://$PWD/page.html" --virtual-time-budget=5000 --print-to-pdf="$PWD/page.pdf"
	assert [ "$(pdfinfo page.pdf | sed -n 's/^Pages: *//p')" -lt 12 ]
	run pdftotext page.pdf -
	assert_output --partial 'void test::kernel<40>(float*)'
	refute_output --partial 'Search'
}

@test "report --flamegraph (in a browser) searches and zooms" {
	"$FEEDER" -n 2000 -k 5 r.db >expect
	ct report --flamegraph flame.svg r.db
	{
		printf '<!DOCTYPE html><body>'
		sed 1d flame.svg | sed 's/<!\[CDATA\[//; s/\]\]>//'
		cat <<-'JS'
			<script>
			flamegraph.search("kernel<3>");
			const found = document.getElementById("m").textContent;
			flamegraph.zoom("stream 7");
			const wide = [...document.querySelectorAll("#frames rect")].filter((r) =>
				r.parentNode.style.display !== "none" && +r.getAttribute("width") > 1190).length;
			document.body.append("FOUND " + found + " WIDE " + wide + " ");
			</script>
		JS
	} >flame.html
	browse "file://$PWD/flame.html" --virtual-time-budget=5000 --dump-dom >dom.html
	# all, process, GPU above, and the stream itself.
	grep -oE 'FOUND [0-9]+ found, [0-9.]+ % of the time WIDE 4 ' dom.html
	grep -qE 'FOUND 2 found, 20\.00 % of the time' dom.html
	browse "file://$PWD/flame.svg" --virtual-time-budget=3000 --screenshot="$PWD/flame.png"
	assert [ "$(stat -c %s flame.png)" -gt 5000 ]
}

@test "report --html (PC samples) has their table and their stacks, and runs nothing of theirs" {
	requires bpf sim
	printf '%s\n' 'saxpy 80 wait 2000 saxpy.cu 12' 'x</script><script>window.owned=1</script> 10 barrier 300 <img>.cu 3' >script
	SIMCUDA_PC_SCRIPT=$PWD/script ct profile --pc --bursts 10ms/100ms --record r.db -o out.txt -- \
		"$SIM" "$WORKLOADS/launch-storm" -p 1000 -s 1 >out
	ct report --html page.html r.db
	drive page.html 'saxpy.cu:12'
	is .ready yes
	is .stalls 2
	is '.hits > 0' true
	is '.frame | contains(" samples")' true
	is .injected true
}
