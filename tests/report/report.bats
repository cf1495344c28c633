#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report: tables, SQL, comparison; and files that are not what they should be.

load ../lib/helpers

FEEDER=$B/tests/recording/store/feeder

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

feed() {
	local file=$1; shift
	"$FEEDER" "$@" "$file" >"$file.expect" 2>"$file.err" ||
		{ cat "$file.err"; fail "feeder $*"; }
}

# survives FILE ARGS...: report ends by itself, with 0 or 1, and no sanitizer or signal had a word.
survives() {
	local code=0
	LIMIT=20 ct report "${@:2}" "$1" >survived.out 2>survived.err || code=$?
	if [ "$code" -gt 1 ] || grep -q 'Sanitizer' survived.err; then
		cat survived.err
		fail "report ${*:2} of $1 ended with $code"
	fi
}

@test "report (no option) prints the summary of stat" {
	feed r.db -n 1000 -k 3
	run ct report r.db
	assert_success
	assert_line --partial 'Kernels by GPU time'
	assert_line --regexp '^1,000 launches \(0 failed\), 0 graph launches, 1,000 kernels;'
	assert_line 'nothing was lost'
}

@test "report (two processes, the kernels of one stored after all others) sums up the time as if in order" {
	requires bpf sim sqlite3
	local as_stored
	# shellcheck disable=SC2016
	ct record -q -o r.db -e kernels -- "$SIM" sh -c '"$1" -s 8 -p 500 & "$1" -s 8 -p 700; wait' sh "$WORKLOADS/launch-storm" >out
	as_stored=$(ct report --json r.db | jq .time.gpu_busy_ns)
	sqlite3 r.db 'CREATE TEMP TABLE late AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid =
			(SELECT max(globalPid) FROM CUPTI_ACTIVITY_KIND_KERNEL);
		DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE globalPid IN (SELECT globalPid FROM late);
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM late'
	ct report --json r.db >out.json
	json out.json ".time | .late_events == 0 and .gpu_busy_ns == $as_stored and .gpu_busy_ns > 0"
	json out.json '(.shares | length) == 2 and ([.shares[].share_ns] | add) == .time.gpu_busy_ns'
}

@test "report (numbers from the edges of what a number can be) neither overflows nor drops the others" {
	feed r.db -n 400
	local edge=9223372036854775807 kernels gpu_ns
	kernels=$(ct report --json --kernels r.db | jq -s 'map(.kernels) | add')
	sqlite3 r.db "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = $edge;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -$edge WHERE rowid = 1;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = $edge WHERE rowid = 2;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = $edge, end = $edge WHERE rowid = 3;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -$edge, end = $edge WHERE rowid = 4"
	assert_equal "$(ct report --json --copies r.db | jq -s 'all(.total_bytes > 0)')" true
	# What is left: the third row, which takes no time at all, and those that are as they were.
	assert_equal "$(ct report --json --kernels r.db | jq -s 'map(.kernels) | add')" $((kernels - 3))
	gpu_ns=$(ct report --json --kernels r.db | jq -s 'map(.total_ns) | add')
	[ "$gpu_ns" -gt 0 ]
	[ "$gpu_ns" -lt 1000000000000 ]
	assert_equal "$(ct report --json --idle r.db | jq -s 'all(.busy_ns >= 0 and .busy_ns < 1000000000000)')" true
	ct report --timeline o.json --html o.html r.db
	assert_equal "$(jq '.cuda_trace_invalid >= 4 and all(.traceEvents[]; (.dur // 0) < 1e12)' o.json)" true
}

@test "report (each table) sums to what was fed" {
	feed r.db -n 5000 -p 2
	local total='[inputs | .%s] | add'
	# shellcheck disable=SC2059
	sum() { ct report --json "--$1" r.db | jq -n "$(printf "$total" "$2")"; }
	assert_equal "$(sum kernels kernels)" "$(expect_key r.db.expect kernels)"
	assert_equal "$(sum kernels total_ns)" "$(expect_key r.db.expect kernel_time)"
	assert_equal "$(sum copies copies)" "$(expect_key r.db.expect memcpys)"
	assert_equal "$(sum copies total_bytes)" "$(expect_key r.db.expect memcpy_bytes)"
	assert_equal "$(sum memsets memsets)" "$(expect_key r.db.expect memsets)"
	assert_equal "$(sum api failed)" "$(expect_key r.db.expect failed)"
	assert_equal "$(ct report --json --api r.db | jq -s 'map(select(.call | test("^cuLaunchKernel")).calls) | add')" \
		"$(expect_key r.db.expect launches)"
	# Of each API's time, as one lies within the other.
	assert_equal "$(ct report --json --api r.db | jq -sc 'group_by(.api) | map(.[0].api, (map(.time_pct) | add | round))')" \
		'["driver",100,"runtime",100]'
	assert_equal "$(sum sync waits)" "$(expect_key r.db.expect syncs)"
	assert_equal "$(sum errors failures)" "$(expect_key r.db.expect failed)"
	assert_equal "$(sum graphs launches)" "$(expect_key r.db.expect graphs)"
	assert_equal "$(sum nvtx ranges)" "$(expect_key r.db.expect ranges)"
	assert_equal "$(sum memory allocations)" "$(expect_key r.db.expect allocs)"
	assert_equal "$(sum memory live_at_end)" \
		$(($(expect_key r.db.expect allocs) - $(expect_key r.db.expect frees)))
}

@test "report (text) has tables as stat has: headings in capitals, units at the numbers" {
	requires bpf sim
	ct record -q -o work.db -- "$SIM" "$WORKLOADS/copies" >/dev/null
	run -0 --separate-stderr ct report --all work.db
	# The line after each title; a title follows an empty line.
	headings=$(awk 'empty || NR == 1 { getline; print } { empty = !length }' <<<"$output")
	[ "$(wc -l <<<"$headings")" -ge 4 ]
	run ! grep '[a-z]' <<<"$headings"
	run -0 ct report --copies work.db
	assert_line --index 1 --regexp '^ *TIME %  +TOTAL  +COPIES .* THROUGHPUT .* DIRECTION '
	assert_line --index 2 --regexp '^ *[0-9.]+%  +[0-9.]+ [mu]s .* [0-9.]+ GB/s '
	run ! grep -E '[0-9] %' <<<"$output"
}

@test "report --idle (overlapping work) counts busy time once" {
	requires sqlite3
	feed r.db -n 3
	sqlite3 r.db "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY;
		DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET; DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
		DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
		INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, value,
		bytes) VALUES (1000, 1100, 0, 1, 7, 0, 0), (150, 250, 0, 1, 7, 0, 0),
		(100, 200, 0, 1, 7, 0, 0), (120, 130, 0, 1, 7, 0, 0), (5, 6, 1, 1, 7, 0, 0)"
	run ct report --idle --json r.db
	assert_line --index 0 --partial '"device":0,"span_ns":1095,"busy_ns":250,"busy_pct":22.83,"idle_ns":845,"gaps":1,"longest_gap_ns":750,"longest_gap_at_ns":250,"copy_ns":250'
	# In the same window, though its own work ended long before.
	assert_line --index 1 --partial '"device":1,"span_ns":1095,"busy_ns":1,'
	# Launches and waits widen it, a stream that waits for an event does not.
	sqlite3 r.db "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, correlationId, syncType, globalPid)
		VALUES (1000, 1500, 1, 3, 0), (1000, 9000, 1, 2, 0);
		INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, nameId, launchName) VALUES
		(-500, 0, 1, 1, 1), (-9000, 0, 1, 1, NULL)"
	run ct report --idle --json r.db
	assert_line --index 1 --partial '"device":1,"span_ns":2000,"busy_ns":1,'
}

@test "report --idle (several processes) is of GPUs, not of numbers that processes give them" {
	requires sqlite3
	feed r.db -n 3
	sqlite3 r.db "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY;
		DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET; DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
		DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
		DELETE FROM TARGET_INFO_CUDA_DEVICE; DELETE FROM PROCESSES;
		INSERT INTO PROCESSES (globalPid, pid, name) VALUES (5 << 24, 5, 'a'), (6 << 24, 6, 'b');
		INSERT INTO TARGET_INFO_CUDA_DEVICE (cudaId, pid, uuid) VALUES (0, 5, 'GPU-0a000000-0000-0000-0000-000000000000'),
		(0, 6, 'GPU-0b000000-0000-0000-0000-000000000000'), (1, 6, 'GPU-0a000000-0000-0000-0000-000000000000');
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (globalPid, start, end, deviceId, streamId, contextId, registersPerThread,
		shortName, demangledName) VALUES (5 << 24, 0, 400000, 0, 7, 1, 1, 1, 1),
		(6 << 24, 200000, 1000000, 1, 7, 1, 1, 1, 1), (6 << 24, 0, 300000, 0, 7, 1, 1, 1, 1)"
	run ct report --idle --json r.db
	assert_line --index 0 --regexp '"device":0,"span_ns":1000000,"busy_ns":1000000,.*"uuid":"GPU-0a000000-'
	assert_line --index 1 --regexp '"device":0,"span_ns":1000000,"busy_ns":300000,.*"uuid":"GPU-0b000000-'
	# The summary counts likewise, in quarters of a microsecond.
	ct report --json r.db >out.json
	json out.json '.time | .window_ns == 1000000 and .gpus_window_ns == 2000000 and (.gpu_busy_ns - 1300000 | fabs) < 2000
		and ([.gpus[].uuid[:12]] == ["GPU-0a000000", "GPU-0b000000"]) and (.gpus[1].busy_ns - 300000 | fabs) < 1000'
}

@test "report, report --idle (three processes on one GPU at a time) agree how busy it was, in one window" {
	requires root bpf
	cat >three <<-'EOF'
		for i in 1 2 3; do "$SIM" "$WORKLOADS/launch-storm" -n 100 & done
		wait
	EOF
	SIMCUDA_KERNEL_NS=3000000 ct record -o r.db -- bash three >out
	ct report --json r.db >out.json
	ct report --idle --json r.db >idle.json
	assert_equal "$(wc -l <idle.json)" 1
	jq -e --slurpfile idle idle.json '.time.window_ns == $idle[0].span_ns and .time.gpus_window_ns == .time.window_ns and
		(.time.gpu_busy_ns - $idle[0].busy_ns | fabs) <= 0.01 * $idle[0].busy_ns' out.json
	# Each process alone kept it busy for 300 ms at least, all together less than three times that or as long as all took.
	json out.json '.time.gpu_busy_ns >= 300000000 and .time.gpu_busy_ns <= .time.window_ns and .totals.gpu_ns >= 900000000'
}

@test "report --idle (rows far out of order, equal ones, a table missing) is right" {
	requires sqlite3
	feed r.db -n 3
	sqlite3 r.db "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY;
		DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET; DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
		DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME; DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, streamId, contextId, registersPerThread,
		shortName, demangledName) SELECT i * 10, i * 10 + 5, 7, 1, 1, 1, 1 FROM n"
	run ct report --idle --json r.db
	assert_output --partial '"span_ns":49995,"busy_ns":25000,"busy_pct":50.01,"idle_ns":24995,"gaps":4999,"longest_gap_ns":5'
	# Each stretch is kept apart from the next for a while; this one comes when its place is gone.
	sqlite3 r.db "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -20, end = -10 WHERE rowid = 10000"
	run ct report --idle --json r.db
	assert_output --partial '"span_ns":50015,"busy_ns":25010,'
	assert_output --partial '"gaps":5000,"longest_gap_ns":10,"longest_gap_at_ns":-10'
}

@test "report --sql (SELECT) prints rows; anything that writes or reaches out is refused" {
	feed r.db -n 100
	run ct report --csv --sql 'SELECT count(*) AS n, 7 AS m FROM CUPTI_ACTIVITY_KIND_KERNEL' r.db
	assert_output "$(printf 'n,m\n100,7')"
	local statement
	for statement in "ATTACH '/etc/passwd' AS x" 'DROP TABLE StringIds' 'PRAGMA journal_mode=DELETE' \
		"SELECT load_extension('x')" 'CREATE TABLE x (y)' 'DELETE FROM StringIds' \
		"VACUUM INTO 'copy.db'" 'SELECT 1; SELECT 2' '' 'nonsense'; do
		run ct report --sql "$statement" r.db
		assert_failure 1
	done
	assert [ ! -e copy.db ]
}

@test "report --compare (one kernel 20 % slower) finds that one" {
	requires sqlite3
	feed old.db -n 4000 -k 4
	feed new.db -n 4000 -k 4
	sqlite3 new.db "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + (end - start) / 5
		WHERE demangledName IN (SELECT id FROM StringIds WHERE value LIKE '%kernel<2>%')"
	ct report --compare --kernels --json old.db new.db >compared.json
	assert_equal "$(jq -r 'select(.verdict == "slower") | .kernel' compared.json)" \
		'void test::kernel<2>(float*)'
	assert_equal "$(jq -r 'select(.verdict == "same") | .verdict' compared.json | wc -l)" 3
	assert_equal "$(jq 'select(.verdict == "slower") | .median_change_pct | . > 18 and . < 22' compared.json)" true
	run ct report --compare old.db
	assert_failure 2
}

@test "report --compare (copies, calls, waits slower) finds each, and says no more of what is alike" {
	requires sqlite3
	feed old.db -n 5000
	feed new.db -n 5000
	sqlite3 new.db "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = end + 1000 WHERE copyKind = 2;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = end - 20 WHERE eventClass = 0;
		UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET end = end + 2000"
	ct report --compare --json old.db new.db >compared.json
	assert_equal "$(jq -r '[.table, .verdict, .copy // .call // .waited_for] | select(.[2]) | join(": ")' \
		compared.json | sort)" "$(sort <<-'END'
			compare_copies: slower: device to host, pageable to device, 1 to 16 MiB
			compare_copies: same: host to device, pageable to device, 1 to 16 MiB
			compare_api: same: cuLaunchKernel
			compare_api: faster: cudaMalloc_v3020
			compare_sync: slower: stream
		END
	)"
	# Tables named are shown alone; a table that one file lacks is not compared with nothing.
	run ct report --compare --csv --sync old.db new.db
	assert_equal "${#lines[@]}" 2
	run ct report --compare --csv old.db new.db
	assert_equal "${#lines[@]}" 41
	sqlite3 new.db 'DROP TABLE CUPTI_ACTIVITY_KIND_MEMCPY'
	run ct report --compare --json --copies old.db new.db
	assert_success
	assert_output ''
}

@test "report --compare (the same twice) finds nothing" {
	feed old.db -n 4000
	run ct report --compare --json old.db old.db
	assert_output --partial '"verdict":"same"'
	assert_equal "$(jq -s 'map(.p == 1 and .slower_pairs_pct == 50) | all' <<<"$output")" true
	refute_output --partial '"verdict":"slower"'
	refute_output --partial '"verdict":"faster"'
}

@test "report (hostile names) lets no control character, formula, HTML or SQL through" {
	feed r.db -n 500 -k 12 -x hostile
	ct report --all r.db >text
	ct report --csv --kernels r.db >csv
	ct report --json --all r.db >json
	ct report --json r.db >>json
	ct report --folded folded --flamegraph flame.svg --timeline timeline.json --html page.html r.db
	for file in text csv json folded flame.svg timeline.json page.html; do
		run grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$file"
		assert_failure
		run iconv -f utf-8 -t utf-8 "$file" -o /dev/null
		assert_success
	done
	jq -e . json >/dev/null
	jq -e . timeline.json >/dev/null
	run grep -E '(^|,)"?[=+@-]' csv
	assert_failure
	assert_equal "$(grep -c ',' csv)" 13
	run grep -c '<script>document' page.html flame.svg
	assert_failure
	assert [ ! -e owned ] && assert [ ! -e /tmp/owned ]
}

# The tables that an export of Nsight's has in any version, with columns of an older one.
NSYS_TABLES='CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
	CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT NOT NULL);
	CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL,
	deviceId INT NOT NULL, contextId INT, streamId INT NOT NULL, correlationId INT,
	globalPid INT, demangledName INT NOT NULL, shortName INT, registersPerThread INT,
	gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT,
	staticSharedMemory INT, dynamicSharedMemory INT, graphNodeId INT);
	CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT,
	globalTid INT, correlationId INT, nameId INT, returnValue INT);'

@test "report (an export of Nsight's, older, with fewer tables) shows what is there" {
	requires sqlite3
	sqlite3 nsys.db "$NSYS_TABLES
		INSERT INTO StringIds VALUES (1, 'gemm(float*)'), (2, 'cudaLaunchKernel_v7000');
		INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16.1');
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 3000, 0, 1, 7, 5,
		(1 << 48) | (4711 << 24), 1, 1, 32, 1, 1, 1, 128, 1, 1, 0, 0, NULL);
		INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500, 900, 0,
		(1 << 48) | (4711 << 24) | 4712, 5, 2, 0)"
	run ct report nsys.db
	assert_success
	assert_output --partial 'gemm(float*)'
	assert_line --regexp '^1 launches .* 1 kernels; 2.000 us'
	run ct report --copies nsys.db
	assert_success
	assert_output --partial 'no table CUPTI_ACTIVITY_KIND_MEMCPY'
	ct report --timeline t.json --html p.html --flamegraph f.svg --folded f --pprof p nsys.db
	assert_equal "$(jq -r '.traceEvents[] | select(.cat == "cuda_runtime") | .name' t.json)" cudaLaunchKernel
	sqlite3 nsys.db "UPDATE META_DATA_EXPORT SET value = '4.0.0'"
	run ct report nsys.db
	assert_failure 1
	assert_output --partial 'schema version 4.0.0'
}

# An export in the form that Nsight gives NVTX: texts in the row, or registered; domains by number.
make_nvtx_export() {
	sqlite3 nsys.db "$NSYS_TABLES
		CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT NOT NULL, rangeId INT, category INT,
		color INT, text TEXT, globalTid INT, endGlobalTid INT, textId INT, domainId INT);
		INSERT INTO StringIds VALUES (1, 'gemm(float*)'), (2, 'cudaLaunchKernel_v7000'), (3, 'registered');
		INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16.1');
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 3000, 0, 1, 7, 5,
		(1 << 48) | (4711 << 24), 1, 1, 32, 1, 1, 1, 128, 1, 1, 0, 0, NULL);
		INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500, 900, 0,
		(1 << 48) | (4711 << 24) | 4712, 5, 2, 0);
		WITH t (tid) AS (SELECT (1 << 48) | (4711 << 24) | 4712)
		INSERT INTO NVTX_EVENTS SELECT 0, NULL, 75, NULL, NULL, NULL, 'NCCL', tid, NULL, NULL, 1 FROM t UNION ALL
		SELECT 100, 5000, 59, NULL, NULL, NULL, 'step 1', tid, NULL, NULL, 0 FROM t UNION ALL
		SELECT 200, 400, 59, NULL, NULL, NULL, 'load', tid, NULL, NULL, 0 FROM t UNION ALL
		SELECT 450, 950, 59, NULL, NULL, NULL, NULL, tid, NULL, 3, 1 FROM t"
}

@test "report (an export of Nsight's with NVTX ranges) names ranges and domains by Nsight's conventions" {
	requires sqlite3
	make_nvtx_export
	ct report --json --nvtx nsys.db >ranges
	assert_equal "$(jq -r '[.range, .domain, .total_ns] | join(",")' ranges | sort)" \
		"$(printf 'load,,200\nregistered,NCCL,500\nstep 1,,4900')"
	ct report nsys.db >out
	grep -qE 'registered' out
	grep -qE 'NCCL' out
	run grep -c '  -$' out
	assert_output 0
	ct report --timeline t.json --html p.html nsys.db
	assert_equal "$(jq -c '[.traceEvents[] | select(.cat == "user_annotation") | .name] | sort' t.json)" \
		'["load","registered","step 1"]'
	for name in load registered 'step 1'; do
		grep -q "^\"$name\"" p.html
	done
	# Statements of the user's see the file as it is; packed files are read in the same way.
	assert_equal "$(ct report --json --sql "SELECT count(text) AS n FROM NVTX_EVENTS" nsys.db)" '{"n":3}'
	assert_equal "$(ct report --json --sql "SELECT max(domainId) AS d FROM NVTX_EVENTS" nsys.db)" '{"d":1}'
	gzip -k nsys.db
	ct report --json --nvtx nsys.db.gz | cmp - ranges
	ct report --html q.html nsys.db.gz
	grep -q '^"step 1"' q.html
	# A column that NVIDIA's recipe adds is no name of ours.
	sqlite3 nsys.db "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN kernelName TEXT;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET kernelName = 'gemm'"
	ct report nsys.db >again
	diff out again
}

@test "report (a newer schema, one with columns and tables that are new) refuses or reads it" {
	requires sqlite3
	feed r.db -n 100
	ct report --json r.db >before.json
	# Nsight's minor and micro versions come with tables and columns that were not there before.
	sqlite3 r.db "UPDATE META_DATA_EXPORT SET value = '3.99.7' WHERE name = 'EXPORT_SCHEMA_VERSION';
		ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN fromTheFuture INTEGER DEFAULT 7;
		CREATE TABLE CUPTI_ACTIVITY_KIND_FUTURE (start INTEGER NOT NULL); INSERT INTO CUPTI_ACTIVITY_KIND_FUTURE VALUES (1)"
	ct report --json r.db >after.json
	assert_equal "$(jq -S 'del(.duration_ns)' after.json)" "$(jq -S 'del(.duration_ns)' before.json)"
	sqlite3 r.db "UPDATE META_DATA_EXPORT SET value = '4.0.0' WHERE name = 'EXPORT_SCHEMA_VERSION'"
	for output in "" --kernels --timeline=t.json --html=h.html; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr ct report ${output/=/ } r.db
		assert_equal "$output" ""
		assert_equal "$stderr" "cuda-trace: r.db has schema version 4.0.0; this cuda-trace reads version 3"
	done
	assert [ ! -e t.json ] && assert [ ! -e h.html ]
}

@test "report (what takes long) shows how far it is, on a terminal and nowhere else" {
	requires script
	feed r.db -n 700000
	# Its last word on the terminal wipes the line.
	script -qec "'$CUDA_TRACE' report r.db >out.txt" /dev/null >terminal
	grep -qE $'\rreading r\\.db: [0-9,]+ rows ' terminal
	assert_equal "$(tail -c 4 terminal | od -An -c | tr -d ' ')" '\r033[K'
	grep -q '^700,000 launches \|^700000 launches ' out.txt
	ct report r.db >again.txt 2>err
	assert_equal "$(cat err)" ""
	diff out.txt again.txt
}

@test "report (not a recording) says so in one line" {
	mkfifo fifo
	mkdir folder
	printf 'SQLite format 3\0' >short.db
	printf '\x1f\x8b' >gzip.db
	: >empty.db
	sqlite3 other.db 'CREATE TABLE t (x)'
	local file
	for file in fifo folder short.db gzip.db empty.db other.db /dev/null /dev/zero missing.db; do
		run ct report "$file"
		assert_failure 1
		assert_equal "${#lines[@]}" 1
		assert_line --regexp '^cuda-trace: '
	done
	ln -s loop.db loop.db
	run ct report loop.db
	assert_failure 1
}

@test "report (a gzip file that grows without end) refuses it before the disk is full" {
	mkdir tmp
	{ printf 'SQLite format 3\0'; head -c 500000000 /dev/zero; } | gzip -1 >bomb.db
	# 256 MiB a file: what is written before must stay far below.
	TMPDIR=$PWD/tmp run bash -c 'trap "" XFSZ; ulimit -f 262144; exec "$1" report bomb.db' - "$CUDA_TRACE"
	assert_failure 1
	assert_output "cuda-trace: cannot unpack the recording: unpacked, it is larger than the limit"
	assert_equal "$(ls tmp)" ""
	head -c 300000000 /dev/zero | gzip -1 >zeros.db
	run ct report zeros.db
	assert_failure 1
	assert_output --partial "is neither a recording"
}

# A recording's tables and one kernel; StringIds is made by "$1".
disguised() {
	rm -f bad.db
	sqlite3 bad.db "$1; CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT NOT NULL);
		INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16.1');
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT,
		correlationId INT, globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT,
		blockX INT, blockY INT, blockZ INT, graphNodeId INT);
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 1, 7, 5, (1 << 48) | (4711 << 24), 1, 1, 1, 1, 1,
		1, 1, 1, NULL)"
}

@test "report (views and virtual tables instead of tables, endless or large rows) refuses or bounds them" {
	requires sqlite3
	ulimit -v 1500000
	disguised "CREATE VIEW StringIds AS WITH RECURSIVE c (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM c)
		SELECT id, hex(zeroblob(1000000)) AS value FROM c"
	for option in --all --folded=f --html=h; do
		run timeout 20 "$CUDA_TRACE" report "$option" bad.db
		assert_failure 1
		assert_line --regexp '^cuda-trace: bad.db: '
	done
	disguised "CREATE VIEW StringIds AS SELECT 1 AS id, 'x' AS value"
	run ct report bad.db
	assert_failure 1
	assert_line --partial 'access to view "StringIds" prohibited'
	# Who asks for a view of an own making gets it.
	sqlite3 bad.db "CREATE VIEW mine AS SELECT 4711 AS n"
	run -0 ct report --sql 'SELECT n FROM mine' --csv bad.db
	assert_line 4711
	disguised "CREATE VIRTUAL TABLE StringIds USING fts5(id, value)"
	run timeout 20 "$CUDA_TRACE" report bad.db
	assert_failure 1
	assert_line --partial 'no table StringIds'
	# 100 kB that stand in the file once, and in 20000 rows.
	disguised "CREATE TABLE StringIds (id INTEGER PRIMARY KEY);
		WITH RECURSIVE c (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c WHERE id < 20000) INSERT INTO StringIds SELECT * FROM c;
		ALTER TABLE StringIds ADD COLUMN value TEXT DEFAULT '$(head -c 100000 /dev/zero | tr '\0' a)'"
	run -0 timeout 60 "$CUDA_TRACE" report --all bad.db
}

@test "report (a file named like an URI, an option, a path with blanks) is a file" {
	feed r.db -n 10
	local name
	for name in 'file:r.db?mode=rwc' 'a b;c' "it's" ':memory:'; do
		cp r.db "$name"
		run ct report --kernels --json "$name"
		assert_success
		assert_output --partial '"table":"kernels"'
	done
	assert [ ! -e r.db-journal ]
}

@test "report (truncated anywhere) gives an error or rows, never a crash" {
	feed r.db -n 2000
	local size i
	size=$(stat -c %s r.db)
	for i in $(seq 1 30); do
		head -c $((size * i / 31)) r.db >cut.db
		survives cut.db --all
	done
}

@test "report (bytes changed at random) gives an error or rows, never a crash" {
	requires python3
	feed r.db -n 500
	local i
	for i in $(seq 1 "${VARIANTS:-150}"); do
		python3 "$TOP/tests/recording/store/damage.py" "$i" r.db bad.db
		survives bad.db --all
		survives bad.db
		[ $((i % 10)) != 0 ] ||
			survives bad.db --html p.html --timeline t.json --flamegraph f.svg --pprof p --folded f
	done
}

@test "report (a damaged spool) imports the rest and counts what is missing" {
	requires python3 sqlite3
	local i
	"$FEEDER" -n 20000 -x kill-written k.db >/dev/null 2>&1 || true
	assert [ "$(stat -c %s k.db.part)" -ge 2500000 ]
	cp k.db.part whole
	for i in $(seq 1 "${VARIANTS:-60}"); do
		rm -f k.db*
		python3 "$TOP/tests/recording/store/damage.py" "$i" whole k.db.part
		survives k.db --kernels
	done
	rm -f k.db*
	# One block in the middle: those after it are found again.
	cp whole k.db.part
	printf 'XXXXXXXXXXXXXXXX' | dd of=k.db.part bs=1 seek=700000 conv=notrunc status=none
	run ct report --losses --json k.db
	assert_output --partial '"reason":"damaged_bytes"'
	assert [ "$(sqlite3 k.db 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" -gt 5000 ]
}

@test "report (a recorder still writes the spool) leaves it alone" {
	"$FEEDER" -n 100000000 -r 1000 live.db >/dev/null 2>&1 &
	wait_for 5 test -s live.db.part
	sleep 0.6
	run ct report live.db
	assert_failure 1
	assert_output --partial 'still being recorded'
	run ct report --import live.db.part --output copy.db
	assert_success
	kill -KILL $!
	wait $! || true
	assert [ -s live.db.part ]
	assert [ "$(ct report --json --kernels copy.db | wc -l)" -gt 0 ]
}

@test "report --html (a link stands where it writes first) leaves the link's file alone" {
	feed r.db -n 10
	echo precious >victim
	ln -s victim page.html.unfinished
	ct report --html page.html r.db
	assert_equal "$(cat victim)" precious
	grep -q '</html>' page.html
}

@test "report (the output's disk is full) fails and leaves the old export" {
	feed r.db -n 1000
	echo old >out.json
	# A name of our own for the device: a mistake here must not replace /dev/full.
	mknod -m 666 full c 1 7 2>/dev/null || skip "cannot make a device node"
	run ct report --timeline full r.db
	assert_failure 1
	assert [ -c full ]
	run ct report --kernels -o full r.db
	assert_failure 1
	assert_output --partial 'No space left'
	ct report --timeline out.json r.db
	run head -c 3 out.json
	refute_output old
}

@test "report (every output: full disk, read-only folder) fails, says so, and leaves the old file" {
	requires root
	feed r.db -n 3000
	mkdir small
	mount -t tmpfs -o size=16k none small || skip "cannot mount a tmpfs"
	local option remount
	for remount in rw ro; do
		for option in html timeline flamegraph folded pprof; do
			mount -o remount,rw small
			rm -f small/new
			echo old >small/out
			head -c 100000 /dev/zero >small/fill 2>/dev/null || true
			mount -o remount,$remount small
			run ct report --$option small/out r.db
			assert_failure 1
			assert_output --regexp "cuda-trace report: cannot write small/out: (No space|Read-only)"
			assert_equal "$(cat small/out)" old
			assert_equal "$(ls small)" "$(printf 'fill\nout')"
		done
		for option in '--kernels --output small/new r.db' '--import r.db.part --output small/new'; do
			[ -e r.db.part ] || "$FEEDER" -n 3000 -x kill r.db >/dev/null 2>&1 || true
			# shellcheck disable=SC2086
			run ct report $option
			assert_failure 1
			assert_output --partial 'small/new'
		done
		rm -f r.db.part
	done
}

@test "report (names of files that are hostile) shows them without doing what they say" {
	local name
	for name in $'\033]0;owned\007.db' $'two\nlines.db' '=cmd.db' '--csv.db' '<img src=x onerror=alert(1)>.db' \
		"'; DROP TABLE StringIds; --.db" '%s%n.db'; do
		feed ./r.db -n 20
		mv r.db "./$name"
		ct report --html page.html --timeline t.json "./$name"
		ct report --all "./$name" >text 2>&1
		ct report --compare "./$name" "./$name" >>text 2>&1
		echo garbage >"./$name"
		run ct report "./$name"
		assert_failure 1
		echo "$output" >>text
		run grep -P '[\x00-\x08\x0b-\x1f\x7f]' text page.html t.json
		assert_failure
		run grep -F '<img' page.html
		assert_failure
		jq -e . t.json >/dev/null
		# One line each: a line break in a name begins none.
		assert_equal "$(tail -n 1 text | grep -c '^cuda-trace: ')" 1
		rm "./$name" text
	done
}

# spread OUT N: the rows of one.db over N processes, so that hardly two of one follow each other.
spread() {
	cp one.db "$1"
	sqlite3 "$1" >/dev/null <<-SQL
		PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
		CREATE TEMP TABLE n AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r
			WHERE n < $2 - 1) SELECT * FROM r;
		INSERT INTO PROCESSES SELECT globalPid + n * 16777216, pid + n, 'p' || n FROM PROCESSES, n;
		INSERT INTO CUDA_TRACE_PROCESSES SELECT globalPid + n * 16777216, instance + n, pid + n, uid, cgroup,
			'p' || n, start, end, state, reason, cuptiVersion, driverVersion, cuptiPath, holder, message, source,
			rank, localRank, worldSize FROM CUDA_TRACE_PROCESSES, n;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = globalPid + correlationId * 7919 % $2 * 16777216;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = globalTid + correlationId * 7919 % $2 * 16777216;
	SQL
}

# user_ms CMD...: CPU time in ms, without the kernel's.
user_ms() {
	local TIMEFORMAT=%3U
	{ time "$@" >/dev/null 2>&3; } 3>&2 2>&1 | tr -d .
}

@test "report (10,000 processes) names each, and takes as long as its rows" {
	requires sqlite3
	feed one.db -n 200000 -k 20
	spread few.db 100
	spread many.db 10000
	ct report --json many.db >many.json
	json many.json '.totals | .launches == 200000 and .kernels == 200000'
	json many.json '[.processes[] | select(.process == "p\(.pid - 1000)" or .pid == 1000)] | length > 1000'
	ct report --timeline t.json many.db
	json t.json '[.traceEvents[] | select(.name == "process_name") | .args.name | select(test("^p[0-9]+$"))] |
		unique | length == 9999'
	local few many
	few=$(user_ms ct report few.db)
	many=$(user_ms ct report many.db)
	# Looked up one by one the processes took 10 times as long as the rows of 100.
	[ "$((10#$many))" -lt $((10#$few * 7)) ] || fail "$many ms, with 100 processes $few ms"
}

@test "report (of processes whose numbers are others' by now) shows no control group of theirs" {
	requires sqlite3
	feed r.db -n 100
	grep -q '^0::/..*' /proc/$$/cgroup || [ -n "$(cat /proc/$$/cgroup)" ] || skip "no control groups"
	sqlite3 r.db "UPDATE PROCESSES SET globalPid = $$ << 24; UPDATE CUDA_TRACE_PROCESSES SET globalPid = $$ << 24;
		UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = $$ << 24;
		UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = $$ << 24"
	ct report --json r.db >r.json
	json r.json ".processes | map(select(.pid == $$)) | length == 1 and .[0].cgroup == \"\" and .[0].container == \"\""
}

teardown() {
	umount "$BATS_TEST_TMPDIR/small" 2>/dev/null || true
	stop_started
}

@test "report (pools, compilations, contexts, streams, overhead) shows them as stat does" {
	requires bpf sim
	local events=kernels,copies,memory,sync,overhead,objects key
	ct record -q -e $events -o r.db -- "$SIM" "$WORKLOADS/memory" >out
	ct report --json r.db >report.json
	json report.json '[.pools[] | [.kind, .trims, .destroyed, .peak_used_bytes <= .peak_size_bytes, .peak_used_bytes > 0]] | sort ==
		[["local", 0, false, true, true], ["local", 10, true, true, true]]'
	json report.json '.jit | keys == ["compile"] and .compile.count == 2 and .compile.total_ns >= .compile.max_ns'
	json report.json '.pools[0].pid == .processes[0].pid'
	# What has no times is the same in another run; pids and addresses are not.
	ct stat -e $events --json -o stat.json -- "$SIM" "$WORKLOADS/memory" >out
	for key in '[.pools[] | del(.pid, .address)] | sort' '[.contexts[] | del(.pid)]' '[.streams[] | del(.pid)]' .objects_left_out; do
		assert_equal "$key $(jq -cS "$key" report.json)" "$key $(jq -cS "$key" stat.json)"
	done
	ct report -o report.txt r.db
	grep -A3 -x 'Memory pools' report.txt | grep -qE ' local +32\.00 MiB .* 10 destroyed$'
	grep -A2 -x 'Compilation at run time (JIT)' report.txt | grep -qE '^ compile +2 '
	ct record -q -e $events -o s.db -- "$SIM" "$WORKLOADS/streams" >out
	ct report --json s.db >report.json
	json report.json '[.streams[] | [.kind, .priority, .count]] | sort == [["non-blocking", -5, 1000], ["non-blocking", 0, 1000]]'
	json report.json '[.contexts[] | [.context, .device, .kind, .parent_context]] == [[1, 0, "context", null]]'
	# The kinds of overhead by the names that they have there.
	json report.json '.overhead | has("buffer_request") and (has("unknown") | not)'
}

@test "report --nvtx, --graphs (none were recorded) say how to record them, on stderr" {
	feed r.db -n 20
	sqlite3 r.db 'DELETE FROM NVTX_EVENTS; DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE'
	run -0 --separate-stderr ct report --nvtx r.db
	[[ $stderr == "cuda-trace report: --nvtx is empty: NVTX ranges are recorded by cuda-trace record -e kernels,copies,nvtx -- PROGRAM" ]]
	run -0 --separate-stderr ct report --graphs --json r.db
	assert_output ''
	[[ $stderr == *"cuda-trace record -e kernels,graphs -- PROGRAM" ]]
	feed full.db -n 2000
	run -0 --separate-stderr ct report --nvtx full.db
	[ -z "$stderr" ]
}
