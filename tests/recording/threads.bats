#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record --idle: what threads waited for (CUDA_TRACE_THREAD_STATES), against what programs with one planted
# cause say of themselves (tests/workloads/idle); and the exports that show it.

load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

# sql SELECT: the rows of r.db, as CSV without its header.
sql() {
	"$CUDA_TRACE" report --csv --sql "$1" r.db | tail -n +2
}

# The states with their words instead of numbers.
STATES="(SELECT t.*, s.name AS state_name, c.name AS cause_name, w.value AS waits_for, f.value AS function_name, o.value AS waker_name
	FROM CUDA_TRACE_THREAD_STATES AS t JOIN ENUM_CUDA_TRACE_THREAD_STATE AS s ON s.id = t.state
	JOIN ENUM_CUDA_TRACE_WAIT_CAUSE AS c ON c.id = t.cause LEFT JOIN StringIds AS w ON w.id = t.waitsFor
	LEFT JOIN StringIds AS f ON f.id = t.function LEFT JOIN StringIds AS o ON o.id = t.waker)"

@test "record --idle (a mutex that a sleeper holds) stores each wait for it, and who ended it" {
	ct record -q --idle -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/mutex" 30 >out
	assert_equal "$(sql "SELECT value FROM META_DATA_CAPTURE WHERE name = 'THREAD_STATES'")" complete
	sql "SELECT state_name, cause_name, waits_for, waker_name, count(*), sum(offNs) FROM $STATES GROUP BY 1, 2, 3, 4"
	# Of 30 waits; on a busy machine a thread that is to wait finds the mutex free, or waits twice.
	assert_equal "$(sql "SELECT count(DISTINCT globalTid), count(*) BETWEEN 24 AND 40 FROM $STATES WHERE waits_for = 'futex()' AND
		waker_name = 'holder' AND state_name = 'blocked' AND cause_name = 'lock'")" 1,1
	# From before the first kernel on, which its idle time is counted from.
	sql "SELECT sum(offNs) FROM $STATES WHERE waker_name = 'holder' AND cause_name = 'lock'" >waited
	awk -v waited="$(cat waited)" -v idle="$(expect_key out idle_ns)" 'BEGIN { exit !(waited > 0.8 * idle && waited < 1.3 * idle) }' ||
		fail "waited $(cat waited) of $(expect_key out idle_ns)"
	# The sleeper is the thread that woke it, and sleeps.
	assert_equal "$(sql "SELECT count(*) >= 24 FROM $STATES WHERE waits_for = 'clock_nanosleep()' AND cause_name = 'sleep' AND globalTid =
		(SELECT DISTINCT wakerGlobalTid FROM $STATES WHERE waker_name = 'holder' AND cause_name = 'lock')")" 1
	# No two waits of a thread overlap.
	assert_equal "$(sql "SELECT count(*) FROM (SELECT start, lag(end) OVER (PARTITION BY globalTid ORDER BY start) AS before
		FROM CUDA_TRACE_THREAD_STATES WHERE state BETWEEN 1 AND 4) WHERE start < before")" 0
	# CUDA calls that may take long are there, too: what waits in them is known.
	assert_equal "$(sql "SELECT count(*) > 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds AS s ON s.id = nameId
		WHERE s.value LIKE '%Synchronize%'")" 1
}

@test "record --idle (Python) names the function that waits" {
	requires python3
	ct record -q --idle -o r.db -- "$SIM" "${PYTHON:-python3}" -c '
import sys; sys.path.insert(0, "'"$TOP/tests/workloads/idle"'")
import gil, time
def pause():
    time.sleep(0.02)
kernel = gil.start()
for i in range(20):
    gil.launch(kernel)
    pause()' >out
	assert_equal "$(sql "SELECT count(*) >= 15 FROM $STATES WHERE waits_for = 'clock_nanosleep()' AND function_name LIKE 'pause (%'")" 1
}

@test "record --idle (a thread of Python holds the GIL, and the tool reads nothing meanwhile) knows so from the first wait on" {
	requires python3
	ct record -q --idle -o r.db -- "$SIM" "${PYTHON:-python3}" "$TOP/tests/workloads/while-stopped.py" \
		"$TOP/tests/workloads/idle/gil.py" 20 >out
	# Of the first thread, which launches.
	sql "SELECT cause_name, count(*) FROM $STATES, (SELECT min(start) AS first, max(start) AS last FROM CUPTI_ACTIVITY_KIND_KERNEL)
		WHERE start BETWEEN first AND last AND globalTid & 0xffffff = globalTid >> 24 & 0xffffff GROUP BY 1" | tee causes
	assert [ "$(sed -n 's/^gil,//p' causes)" -ge 15 ]
	run ! grep '^lock,' causes
}

@test "report --perfetto, --timeline (record --idle) show what each thread did, without overlaps" {
	ct record -q --idle -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/mutex" 20 >out
	ct report --perfetto t.pftrace --timeline t.json r.db
	python3 "$TOP/tests/export/read_perfetto.py" t.pftrace >p.json
	sql "SELECT (globalTid & 0xffffff) || ' ' || max(start, 0) || ' ' || end FROM CUDA_TRACE_THREAD_STATES WHERE state BETWEEN 1 AND 4" | sort >rows
	[ -s rows ]
	jq -r '.host[] | select(.category == "thread_state" and .name != "running") | "\(.tid) \(.start) \(.end)"' p.json | sort >slices
	diff rows slices
	# Without a wait it ran: what is on a thread's track has no holes.
	jq -e '[.host[] | select(.category == "thread_state")] | group_by(.tid) | all(. as $one | [range(1; length)] |
		all($one[.].start == $one[. - 1].end and $one[.].depth == 0))' p.json
	# Of 20 waits; on a busy machine a thread that is to wait finds the mutex free.
	waits=$(jq '[.host[] | select(.notes["woken by"] == "holder" and .name == "blocked: futex()")] | length' p.json)
	[ "$waits" -ge 15 ]
	# The same in the timeline, in rows beside the threads'.
	assert_equal "$(jq '[.traceEvents[] | select(.cat == "thread_state" and .args.state != "running")] | length' t.json)" "$(wc -l <rows)"
	jq -e '[.traceEvents[] | select(.cat == "thread_state" and .args["woken by"] == "holder" and .name == "blocked: futex()")] | length == '"$waits" t.json
	jq -e '([.traceEvents[] | select(.cat == "thread_state").tid] | unique) == ([.traceEvents[] |
		select(.name == "thread_name" and (.args.name | test(": state$"))).tid] | unique)' t.json
}

@test "report --perfetto, --timeline (waits were lost, impossible times) claim nothing of that time" {
	ct record -q --idle -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/mutex" 20 >out
	sqlite3 r.db "INSERT INTO CUDA_TRACE_THREAD_STATES (globalTid, start, end, state, cause, offNs, delayNs)
		SELECT 0, min(start), max(end), 5, 0, 0, 0 FROM CUDA_TRACE_THREAD_STATES WHERE state BETWEEN 1 AND 4;
		UPDATE CUDA_TRACE_THREAD_STATES SET end = start - 5 WHERE rowid = (SELECT min(rowid) FROM CUDA_TRACE_THREAD_STATES WHERE state = 2)"
	ct report --perfetto t.pftrace --timeline t.json r.db 2>err
	grep -qx 'cuda-trace: 1 rows have impossible times and are left out' err
	python3 "$TOP/tests/export/read_perfetto.py" t.pftrace >p.json
	jq -e '[.host[] | select(.category == "thread_state").name] | index("running") == null and index("not known: waits were lost") != null' p.json
	jq -e '[.traceEvents[] | select(.cat == "thread_state").args.state] | index("running") == null and index("unknown") != null' t.json
}

@test "record --idle (no scheduler events) says that it is reduced; without --idle there are no states" {
	CUDA_TRACE_SCHEDULER=off ct record -q --idle -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/sleeps" 5 >out 2>err
	grep -q '^cuda-trace record: thread states are reduced: ' err
	assert_equal "$(sql "SELECT count(*) FROM CUDA_TRACE_THREAD_STATES")" 0
	assert_equal "cuda-trace record: thread states are reduced: $(sql "SELECT value FROM META_DATA_CAPTURE WHERE name = 'THREAD_STATES'" | tr -d '"')" "$(cat err)"
	ct record -q -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/sleeps" 5 >out 2>err
	assert_equal "$(sql "SELECT count(*) FROM CUDA_TRACE_THREAD_STATES")" 0
	assert_equal "$(sql "SELECT count(*) FROM META_DATA_CAPTURE WHERE name = 'THREAD_STATES'")" 0
}

@test "record --idle --last (a ring) keeps the states of the last seconds, and their words" {
	ct record -q --idle --last 1s -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/sleeps" 300 >out
	assert_equal "$(sql "SELECT count(*) > 50, max(end) - min(start) < 2500000000, count(waits_for) > 50 FROM $STATES WHERE cause_name = 'sleep'")" 1,1,1
}

# planted NAME CAUSE: report finds it as stat does (tests/stat/idle.bats): it comes first, takes as long as the program says
# (5 %), and 95 % of all have a cause. Again, up to six times, where other programs of this machine had the CPU.
planted() {
	local try program=("$WORKLOADS/idle/$1")
	[[ $1 != *.py ]] || program=("${PYTHON:-python3}" "$TOP/tests/workloads/idle/$1")
	prompt_idle "$1"
	for try in 1 2 3 4 5 6; do
		ct record -q --idle -o r.db -- "${PROMPTLY[@]}" "$SIM" "${program[@]}" >out
		ct report --idle --json r.db | jq -c 'select(.table == "idle_causes")' >out.json
		json out.json '.idle | .reduced == null and .lost == 0 and .left_out == 0 and .late == 0'
		jq -e '.idle | .idle_ns as $all | .causes[] | select(.cause == "preempted" and .ns > $all * 0.03)' out.json >/dev/null || break
	done
	echo "tries: $try"
	assert_equal "$(sed -n 's/^cause //p' out)" "$2"
	assert_equal "$1 $(json out.json .idle.causes[0].cause)" "$1 $2"
	json out.json ".idle.causes[0].ns / $(expect_key out idle_ns) | . > 0.95 and . < 1.05"
	json out.json '([.idle.causes[] | select(.cause == "unexplained") | .ns] | add // 0) <= .idle.idle_ns * 0.05'
	json out.json '([.idle.causes[].ns] | add) == .idle.idle_ns and ([.idle.causes[].gaps] | add) == .idle.gaps'
}

place() {
	json out.json ".idle.causes[0].places | any(.place | test(\"$1\"))"
}

@test "report --idle (a lock, a loader, a sleep, waits for the GPU, copies, no requests) finds the planted causes" {
	planted mutex lock
	place '^futex[(][)], woken by holder, which slept in clock_nanosleep[(][)]$'
	planted loader process
	place '^read[(][)] of a pipe.*woken by loader, which (was on the CPU in|had to wait for a CPU)'
	planted sleeps sleep
	# Longer than what a busy kernel takes to wake it up.
	SIMCUDA_WAKE_NS=1000000 planted each-sync cuda_call
	place 'cuStreamSynchronize'
	planted pageable cuda_call
	place 'of pageable memory$'
	planted server no_work
	# The summary has the same, text and JSON.
	ct report --json r.db >summary.json
	assert_equal "$(jq -c .idle summary.json)" "$(jq -c .idle out.json)"
	ct report r.db >text
	grep -q '^Why the GPU was idle (' text
	grep -qE '^ no work to do: waiting for a request +' text
	run -0 ct report --idle r.db
	assert_line --regexp '^ no work to do: waiting for a request +'
}

@test "report --idle (Python's lock) finds the planted cause, and who held it" {
	requires python3
	planted gil.py gil
	place 'held by .*'
}

@test "report --idle (waits were lost, no states, a sample) claims nothing" {
	ct record -q --idle -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/sleeps" 20 >out
	sqlite3 r.db "DELETE FROM CUDA_TRACE_THREAD_STATES WHERE cause = 10;
		INSERT INTO CUDA_TRACE_THREAD_STATES (globalTid, start, end, state, cause, offNs, delayNs)
		SELECT 0, min(start), max(end), 5, 0, 0, 0 FROM CUDA_TRACE_THREAD_STATES WHERE state BETWEEN 1 AND 4;
		UPDATE META_DATA_CAPTURE SET value = '20 waits were lost' WHERE name = 'THREAD_STATES'"
	ct report --idle --json r.db | jq -c 'select(.table == "idle_causes")' >out.json
	json out.json '.idle | .reduced == "20 waits were lost" and ([.causes[] | select(.cause == "unexplained").ns][0] > 0.9 * .idle_ns)'
	ct record -q -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/sleeps" 20 >out
	assert_equal "$(ct report --idle --json r.db | jq -r .table)" idle
	json <(ct report --json r.db) '.idle == null'
}

@test "report --idle (record --idle --sample) gives what was observed its causes, as stat does" {
	ct record -q --idle --sample 50ms/500ms -o r.db -- "${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/sleeps" 500 >out
	ct report --idle --json r.db | jq -c 'select(.table == "idle_causes")' >out.json
	json out.json '.idle | .sampled and .observed_ns > 0 and .observed_ns < .whole_ns / 2 and
		.causes[0].cause == "sleep" and .causes[0].share > 0.9'
	# The share of the idle time is that of the whole run: 7 of 8 ms.
	json out.json '.idle | .idle_ns / .observed_ns | . > 0.78 and . < 0.95'
	ct report r.db >out.txt
	grep -qE '^ a sample: .* were observed \([0-9.]+%\), and nothing is said of the rest$' out.txt
	# An older recording does not say which launches were timed.
	sqlite3 r.db 'ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME DROP COLUMN streamHandle'
	ct report --idle --json r.db | jq -c 'select(.table == "idle_causes")' >out.json
	json out.json '.idle == null and .idle_unknown == "with --sample, kernels between the windows are not recorded"'
	ct report r.db >out.txt
	grep -qx 'Why the GPU was idle: not known, as with --sample, kernels between the windows are not recorded' out.txt
}

@test "report --idle (record --idle --sample of programs one after the other) knows when each of them ended" {
	# shellcheck disable=SC2016 # for the shell below
	ct record -q --idle --sample 20ms/100ms -o r.db -- sh -c 'for i in 1 2 3 4; do "$@" >/dev/null; done' sh \
		"${PROMPT[@]}" "$SIM" "$WORKLOADS/idle/sleeps" 200
	ct report --idle --json r.db | jq -c 'select(.table == "idle_causes")' >out.json
	# Of the first one alone, which has not ended, a quarter of that would be observed.
	json out.json '.idle | .observed_ns / .whole_ns | . > 0.1 and . < 0.4'
}

@test "report --idle (record --idle --sample of a GPU that is busy all the time) finds no idle time" {
	ct record -q --idle --sample 50ms/500ms -o r.db -- "$SIM" "$WORKLOADS/idle/healthy-queue" 3000 >out
	ct report --idle --json r.db | jq -c 'select(.table == "idle_causes")' >out.json
	json out.json '.idle | .observed_ns > 0 and .idle_ns < 0.01 * .observed_ns'
}
