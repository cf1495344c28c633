#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --html and --flamegraph, in a real browser without a screen.

load ../lib/helpers

FEEDER=$B/tests/recording/store/feeder

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

# drive PAGE SEARCH: tests/export/drive-page.js uses the page; what it saw is in result.json.
drive() {
	{
		cat "$1"
		printf '<script>const SEARCH = %s;\n' "$(jq -Rn --arg s "$2" '$s')"
		cat "$TOP/tests/export/drive-page.js"
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

# consumer: Chromium | itself | a page that shows the right numbers
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

@test "report --html (hostile names, losses) runs nothing of theirs and shows the loss" {
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

@test "report --html (a process with 2,000 streams beside two others) hides nobody's calls, waits or ranges" {
	"$FEEDER" -n 6000 -k 5 -p 3 r.db >expect
	sqlite3 r.db 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 100 + rowid % 2000
		WHERE globalPid = (SELECT min(globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL)'
	ct report --html page.html r.db
	drive page.html 'kernel<3>'
	is .kernel_ns "$(expect_key expect kernel_time)"
	is '[.groups[] | .process] | join(",")' 'feeder (1000),feeder (1001),feeder (1002)'
	# Each process has its streams, waits and calls; the one with many has a row for those that share it.
	is '[.groups[] | .lanes] | (.[1] == .[2]) and .[1] >= 4 and .[0] <= 40 + .[1]' true
	shared=$(sqlite3 r.db 'SELECT count(*) - 32 FROM (
		SELECT streamId, globalPid AS p FROM CUPTI_ACTIVITY_KIND_KERNEL
		UNION SELECT streamId, globalPid FROM CUPTI_ACTIVITY_KIND_MEMCPY
		UNION SELECT streamId, globalPid FROM CUPTI_ACTIVITY_KIND_MEMSET
		UNION SELECT streamId, globalPid FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
		WHERE p = (SELECT min(globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL)')
	is '[.lanes[] | select(contains("more streams")) | gsub(","; "")] | join(",")' "GPU 0 $shared more streams"
	is '.lanes_note | contains("streams and threads have no row of their own")' true
	# Processes are collapsed and expanded by one key.
	is '.taller | fabs > 100' true
	is .same true
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

# samples PYTHON: lines as profile --device --json writes them, of the GPU and the time of r.db, one
# for each row(at, ns, columns...): nanoseconds of the recording, and each column's mean, or mean,
# min and max.
samples() {
	python3 - "$1" <<-'END' || fail "no samples"
		import json, sqlite3, sys
		db = sqlite3.connect("r.db")
		began, = db.execute("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME").fetchone()
		# The first event's: on a busy machine, long after the session began.
		first, = db.execute("SELECT min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
		ours, = db.execute("SELECT uuid FROM TARGET_INFO_CUDA_DEVICE").fetchone()
		def row(at, ns, columns, uuid=ours, device=0):
		    parts = {key: dict(zip(("mean", "min", "max"), value if isinstance(value, tuple) else (value,) * 3))
		             for key, value in columns.items()}
		    print(json.dumps({"event": "device", "device": device, "uuid": uuid, "time_ns": 7 + at,
		        "end_ns": 7 + at + ns, "utc_ns": began + at, "samples": 1, "lost": 0, "columns": parts}))
		exec(sys.argv[1])
	END
}

# The events of `feeder -n 2000` begin within a millisecond and last 5 ms.
@test "report --html --device (samples) are lanes below the kernels, with their values and times" {
	"${PROMPT[@]}" "$FEEDER" -n 2000 -k 5 r.db >expect
	samples '
for k in range(5):
    row(k * 1000000, 1000000, {"sm": (0.1 * (k + 1), 0.05 * (k + 1), 0.15 * (k + 1)), "pcie_read_bytes": 4e9 * k,
        "dram__sectors.avg": 40 + k, "tensor": None if k == 2 else 0, "nvlink_receive_bytes": 0})
row(-3000000, 1000000, {"sm": 1})
row(9000000, 1000000, {"sm": 1})
print("[]\nnonsense\n{}")' >rows
	ct report --html page.html --device rows r.db 2>err
	grep -qx 'cuda-trace report: rows: 2 lines are malformed and were skipped' err
	drive page.html 'kernel<3>'
	# Below the streams of their GPU, before what else there is.
	is '.lanes | [.[:4][] | sub("[0-9]+$"; "")] | unique | join(",")' 'GPU 0 stream '
	is '.lanes[4:9] | join(",")' 'GPU 0 sm,GPU 0 pcie_read_bytes,GPU 0 dram__sectors.avg,GPU 0 tensor,GPU 0 nvlink_receive_bytes'
	is '.lanes[9:] | any(startswith("GPU"))' false
	# The first sample begins before the first event, and is shown from there.
	is '.counters[0] | [.key, .unit, .scale, .below] | join(",")' 'sm,ratio,1,up to 100.0 %'
	is '.counters[0].points[0][0] == .begin and .begin < 1000000' true
	is '.counters[0].points[0][1:] | join(",")' '1000000,0.05,0.1,0.15'
	is '.counters[0].points[3] | join(",")' '3000000,4000000,0.2,0.4,0.6'
	is '.counters[1] | [.unit, .scale, .below] | join(",")' 'bytes/s,16000000000,up to 16 GB/s'
	is '.counters[1].points | map(.[3]) | join(",")' '0,0.25,0.5,0.75,1'
	is '.counters[2] | [.unit, .scale, (.points[1][3] * .scale * 1000 | round)] | join(",")' ',44,41000'
	# What was not measured is no zero.
	is '.counters[3].points | map(.[0]) | .[1:] | join(",")' '1000000,3000000,4000000'
	ct report --timeline t.json --device rows r.db
	assert_equal "$(jq -c '[.traceEvents[] | select(.ph == "C" and .name == "tensor") | .args.value]' t.json)" '[0,0,0,0]'
	is '.counters[3:] | map(.below) | join(",")' 'up to 100.0 %,always 0'
	# Under the mouse, and in what a kernel says.
	is '.seen[0].detail' $'sm: 50.0 % (25.0 % to 75.0 %)\n1.000 ms of GPU 0 at 4.000 ms'
	is '.seen[1].detail | startswith("pcie_read_bytes: 16 GB/s\n")' true
	is '.kernel_detail | test("^.*\n.*\nthe GPU meanwhile: sm [1-5]0.0 %, pcie_read_bytes (0|[0-9]+ G)B/s, dram__sectors.avg 4[0-4](,|$)")' true
	# Drawn, in either theme's colour.
	is '.seen[1].color' 79,111,31
	is '.seen_otherwise[1].color' 169,201,99
	is '.samples_note | contains("5 rows;")' true
	is '.samples_note | contains("2 rows of another time are left out")' true
	is '.samples_note | contains("summed up")' false
	# All that there is without samples is there, too.
	is .kernels 2,000
	is .events $((2 * 2000 + 40 * 6))
	is '.next | contains("kernel<3>")' true
	is .foreign 0
	ct report --html page.html r.db
	drive page.html 'x'
	is '[.samples_note, (.counters | length)] | join(",")' ',0'
	is '.lanes | any(test("sm|tensor"))' false
}

@test "report --html --device (more samples than a page holds) sums up, says so, hides no burst" {
	"$FEEDER" -n 2000 r.db >expect
	# 100,000 rows of 49 ns, twelve columns; one of them is a burst.
	samples '
for k in range(100000):
    row(first + 100000 + k * 49, 49, {name: (1.0 if k == 77777 else 0.25) for name in "abcdefghijkl"})' >rows
	LIMIT=120 ct report --html page.html --device rows r.db
	assert [ "$(stat -c %s page.html)" -lt 9000000 ]
	drive page.html 'x'
	is '.samples_note | test("100,000 rows;.*too many for a page: they are summed up in steps of [0-9.]+ (ns|µs), with mean, least and most of each")' true
	is '.counters | length' 12
	is '.counters | all(.count > 10000 and .count <= 25000)' true
	# None is lost, and none is counted twice.
	is '.counters | all(.covered == 4900000)' true
	is '.counters | all(.least == 0.25 and .most == 1)' true
	is '.counters | all(.mean > 0.25 and .mean < 0.2502)' true
	is '.draw_ms < 250' true
}

@test "report --html --device (hostile, or of another GPU) harms nobody, and has lanes of its own" {
	"$FEEDER" -n 2000 -k 5 r.db >expect
	samples '
row(1000000, 1000000, {"</script><img src=x onerror=owned=1>": 0.5, "device,sm": 1, "\"],\\\u0001": 1, "__proto__": 1}, "GPU-other", 3)
row(1000000, 1000000, {"%c%d" % (97 + k % 26, k): 0.5 for k in range(300)})
for key in ("a", "utc_ns", "time_ns", "end_ns", "device"):
    for value in (1e400, -2**63, 2**63 - 1, -1, None, [1], {"mean": 1}, "x"):
        print(json.dumps({"event": "device", "device": 0, "uuid": ours, "time_ns": 0, "end_ns": 2**62, "utc_ns": began,
            "columns": {"a": {"mean": value, "min": value}, "b": value}, key: value}))' >rows
	ct report --html page.html --device rows r.db
	drive page.html 'x'
	is .ready yes
	is .injected true
	is .foreign 0
	is '.counters[0].key' '</script><img src=x onerror=owned=1>'
	is '.lanes[-4:] | join(",")' $'GPU 3 </script><img src=x onerr…,GPU 3 device,sm,GPU 3 "],\\\x01,GPU 3 __proto__'
	is '.counters[0].below' 'up to 0.5, GPU as a whole'
	# More columns than there are: so many lanes, and a word for the others.
	is '.counters | length' 256
	is '.samples_note | test("[0-9]+ values are left out, of more columns than a page has")' true
	is .kernels 2,000
}

@test "report --device (no samples, of another time, no output that shows them) prints why, and writes no page" {
	"$FEEDER" -n 100 r.db >expect
	echo nonsense >rows
	run -1 ct report --html page.html --device rows r.db
	assert_line 'cuda-trace report: rows has no lines of cuda-trace profile --device --json'
	run -1 ct report --html page.html --device ./not-there r.db
	assert_line 'cuda-trace report: ./not-there cannot be read'
	samples 'row(10**12, 1000000, {"sm": 1})' >rows
	run -1 ct report --html page.html --device rows r.db
	assert_line 'cuda-trace report: rows has no samples from the time of this recording: take them while recording'
	assert [ ! -e page.html ]
	for output in '--flamegraph f.svg' '--folded f' '--pprof f' --kernels '' '--html page.html --compare r.db'; do
		# shellcheck disable=SC2086 # one word each
		run -2 ct report --device rows $output r.db
		assert_output --partial '--device goes with --html, --timeline or --perfetto'
		assert [ "${#lines[@]}" -le 2 ]
	done
}

@test "report --html (record --idle) shows below its calls what each thread did: running, runnable, blocked and on what" {
	requires root bpf sim
	ct record -q --idle -o r.db -- "$SIM" "$WORKLOADS/idle/mutex" 20 >out
	ct report --html page.html r.db
	drive page.html kernel
	sqlite3 -separator ' ' r.db "SELECT globalTid & 0xffffff, start, end, CASE WHEN state = 1 THEN 'runnable, CPU has: ' || o.value
		ELSE 'blocked: ' || coalesce(w.value, 'the GIL') END FROM CUDA_TRACE_THREAD_STATES LEFT JOIN StringIds AS w ON w.id = waitsFor
		LEFT JOIN StringIds AS o ON o.id = waker WHERE state BETWEEN 1 AND 4" | sort >rows
	grep -q 'blocked: futex()$' rows
	jq -r '.states[] | .number as $tid | .items[] | select(.[2] != "running") | "\($tid) \(.[0]) \(.[1]) \(.[2])"' result.json | sort >shown
	diff rows shown
	# Without a wait a thread runs: nothing is left open between its first row and its last.
	is '[.states[].items | . as $all | range(1; length) | $all[.][0] == $all[. - 1][1]] | all' true
	is '[.states[].label | test("^thread [0-9]+ state$")] | all' true
	is '.longest_state | .state[2] as $name | .seen.detail | contains($name)' true
	# Where waits were lost, nobody says that a thread ran.
	sqlite3 r.db "INSERT INTO CUDA_TRACE_THREAD_STATES (globalTid, start, end, state, cause, offNs, delayNs) SELECT 0, min(start), max(end), 5, 0, 0, 0
		FROM CUDA_TRACE_THREAD_STATES"
	ct report --html page.html r.db
	drive page.html kernel
	is '[.states[].items[] | select(.[2] == "running")] | length' 0
}
