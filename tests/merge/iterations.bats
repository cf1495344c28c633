#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace report --merge: iterations across ranks: length, slowest rank, imbalance, exposed communication.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# run_of FOLDER [OPTION...]: recordings of a run that never was, and what is true of it in FOLDER.json.
run_of() {
	python3 "$TOP/tests/merge/synthetic.py" "$@" >"$1.json"
}

# rank FILE ROW...: the recording's kernels and ranges are these: NAME START END in us, where NAME is gemm, nccl, gemm2 or nccl2
# (on a second GPU), or that of a range.
rank() {
	local file=$1 row name start end
	shift
	sqlite3 "$file" "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM NVTX_EVENTS"
	for row; do
		read -r name start end <<<"$row"
		case $name in
		gemm*) kernel "$file" "$start" "$end" 1 "${name#gemm}" ;;
		nccl*) kernel "$file" "$start" "$end" 2 "${name#nccl}" ;;
		*) range "$file" "$((start * 1000))" "$((end * 1000))" "$name" ;;
		esac
	done
}

kernel() {
	sqlite3 "$1" "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT $2 * 1000, $3 * 1000, 0$5, 1, 7, 0, globalPid, $4, $4, NULL FROM PROCESSES"
}

range() {
	sqlite3 "$1" "INSERT INTO NVTX_EVENTS SELECT $2, $3, 59, globalPid | 77, '$4', NULL FROM PROCESSES"
}

# merge OPTION... : its report as JSON in m.json.
merge() {
	ct report --json --merge "$@" >m.json
}

# row N: the iteration's values, in one line.
row() {
	jq -r ".iterations[] | select(.iteration == $1) | [.ranks, .median_ns, .longest_ns, .compute_ns, .slowest_compute_ns, .slowest_rank,
		(.imbalance | if . then . * 1000 | round else . end), .exposed_ns, .longest_exposed_ns, (.exposed_share * 10000 | round), .late_rank] |
		map(tostring) | join(\" \")" m.json
}

@test "report --merge (two ranks, kernels that overlap, cross steps, and lie between them) has exact iterations" {
	run_of r --hosts 1 --per-host 2 --steps 1
	rank r/host0-000.db 'ProfilerStep#10 0 1000' 'ProfilerStep#11 1000 2000' 'ProfilerStep#99 1200 1300' 'ProfilerStep#12 2000 3000' 'other 0 9000' \
		'gemm 100 500' 'nccl 400 800' 'gemm 1200 1600' 'nccl 1500 2200' 'gemm 2100 2600' 'gemm 2900 3400' 'nccl 3500 3900'
	rank r/host0-001.db 'ProfilerStep#10 0 1200' 'ProfilerStep#12 2000 3000' \
		'gemm 0 900' 'nccl 900 1000' 'gemm 1500 1600' 'gemm 2000 2400' 'nccl 2200 2300'
	merge r
	json m.json '.iteration_range == "ProfilerStep#*" and .iterations_matched_by == "number" and (.iterations | map(.iteration)) == [10, 11, 12]
		and all(.iterations[]; .run == 0) and .iterations_left_out == 0 and .iteration_ranges_left_out == 0'
	assert_equal "$(row 10)" '2 1100000 1200000 700000 1000000 1 1429 200000 300000 1333 null'
	assert_equal "$(row 11)" '1 1000000 1000000 400000 400000 null null 400000 400000 4000 null'
	assert_equal "$(row 12)" '2 1000000 1000000 500000 600000 0 1200 50000 100000 500 null'
	run -0 ct report --merge r
	assert_line "Iterations (NVTX ranges 'ProfilerStep#*'), the longest first;"
	assert_line --regexp '^ +10 +2 1\.100 ms 1\.200 ms 700\.0 us 1\.000 ms +1 +1\.43 200\.0 us 300\.0 us  13\.3% +- +-$'
	assert_line ' 3 iterations, 1.000 ms long (median); exposed communication: 13.3 % (median);'
	assert_line --regexp '^ rank [01] \(host0, pid 1100[01]\) computes longest in 1 of 2, by 2 % of the mean or more$'
	assert_line ' iterations that some ranks lack: 1 of 3'
	# The longest ones come first, and no more than requested.
	run -0 ct report --merge -n 1 r
	assert_line --regexp '^ +10 +2 1\.100 ms '
	refute_line --regexp '^ +12 +2 '
	assert_line ' ... and 2 more (-n 3 shows all)'
}

@test "report --merge (a process with two GPUs) has both in the iteration, and a share of the time of both" {
	run_of r --hosts 1 --per-host 1 --steps 1
	rank r/host0-000.db 'ProfilerStep#1 0 1000' 'gemm 0 500' 'gemm2 0 800' 'nccl 400 1000' 'nccl2 700 1000'
	merge r
	assert_equal "$(row 1)" '1 1000000 1000000 1300000 1300000 null null 700000 700000 3500 null'
}

@test "report --merge (a late rank; one with a slower GPU) names it in each iteration" {
	run_of late --late 2 --steps 100
	merge late
	json m.json '(.iterations | length) == 100 and all(.iterations[]; .ranks == 4 and .late_rank == 2 and (.imbalance - 1 | fabs < 0.001))'
	# What the iterations have is what the run has: how late, and how much communication is exposed.
	jq -e -n --slurpfile m m.json --slurpfile t late.json '($m[0].iterations | map(.late_ns) | add / 100) - $t[0].ranks[2].late_ns | fabs < 20000'
	json m.json '((.iterations | map(.exposed_ns * 4) | add) - (.ranks | map(.exposed_ns) | add) | fabs) < 1000'
	json m.json '((.iterations | map(.compute_ns * 4) | add) - (.ranks | map(.compute_ns) | add) | fabs) < 1000'
	run -0 ct report --merge late
	assert_line ' no rank computes longer than the mean by 2 % or more'
	run_of slow --slow 1 --steps 100
	merge slow
	json m.json 'all(.iterations[]; .slowest_rank == 1 and .late_rank == 1 and (.imbalance - 6.56 / (6.56 + 3 * 5.06) * 4 | fabs < 0.001))'
	run -0 ct report --merge slow
	assert_line ' rank 1 (host0, pid 11001) computes longest in 100 of 100, by 2 % of the mean or more'
}

@test "report --merge (iterations and ranges are missing on some ranks) matches the others by number, and says so" {
	run_of r --hosts 1 --per-host 4 --steps 50 --slow 3
	sqlite3 r/host0-001.db "DELETE FROM NVTX_EVENTS WHERE rowid <= 10"
	sqlite3 r/host0-002.db "DROP TABLE NVTX_EVENTS"
	merge r
	json m.json '(.iterations | length) == 50 and all(.iterations[]; .ranks == (if .iteration < 10 then 2 else 3 end) and .slowest_rank == 3)'
	run -0 ct report --merge r
	assert_line ' ranks without such ranges: 1 of 4'
	assert_line ' iterations that some ranks lack: 10 of 50'
}

@test "report --merge --step-range (names without numbers, or with numbers that do not rise) matches by order" {
	local sql
	run_of r --hosts 1 --per-host 2 --steps 20
	for sql in "'train'" "'train ' || (rowid % 7)" "'train ' || rowid || ' of 20'" "'train 99999999999999999999' || rowid"; do
		sqlite3 r/host0-001.db "UPDATE NVTX_EVENTS SET text = $sql"
		sqlite3 r/host0-000.db "UPDATE NVTX_EVENTS SET text = 'train ' || (rowid + 100)"
		merge --step-range 'train*' r
		json m.json '.iterations_matched_by == "order" and (.iterations | map(.iteration)) == [range(20)] and all(.iterations[]; .ranks == 2)'
		run -0 ct report --merge --step-range 'train*' r
		assert_line ' matched by their order: the numbers in the names do not rise, or there are none'
	done
	sqlite3 r/host0-001.db "UPDATE NVTX_EVENTS SET text = 'train, epoch 1 step ' || (rowid + 100) || ' (warm-up)'"
	merge --step-range 'train*' r
	json m.json '.iterations_matched_by == "number" and (.iterations | map(.iteration)) == [range(101; 121)] and all(.iterations[]; .ranks == 2)'
}

@test "report --merge (all ranks were restarted) keeps the iterations of the two runs apart; a copy counts once" {
	run_of r --restart --steps 40
	merge r
	json m.json '(.iterations | length) == 40 and all(.iterations[]; .ranks == 4) and (.iterations | map(.run)) == [range(20) | 0] + [range(20) | 1]'
	run -0 ct report --merge r
	assert_line --regexp '^ ITERATION RUN RANKS '
	run_of s --steps 20
	cp s/host0-000.db s/copy.db
	merge s
	json m.json '(.iterations | length) == 20 and all(.iterations[]; .ranks == 4)'
	# Without communicators (they are older than the recording), the ranks are one run.
	for file in s/*.db; do
		sqlite3 "$file" "DELETE FROM CUDA_TRACE_COMMUNICATORS"
	done
	rm s/copy.db
	merge s
	json m.json '(.iterations | length) == 20 and all(.iterations[]; .ranks == 4 and .run == 0 and .late_rank == null)'
}

@test "report --merge (no such ranges) has no iterations, and says how to record them" {
	run_of r --steps 5
	merge --step-range 'epoch *' r
	json m.json '.iterations == [] and .iterations_matched_by == null and .iteration_range == "epoch *"'
	run -0 ct report --merge --step-range 'epoch *' r
	assert_line "No iterations: no NVTX range 'epoch *' was recorded (record -e kernels,collectives,nvtx;"
	assert_line '--step-range NAME: another one)'
	for file in r/*.db; do
		sqlite3 "$file" "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUDA_TRACE_COLLECTIVES"
	done
	run -0 ct report --merge r
	refute_output --partial terations
}

@test "report --merge (ranges with times, names and numbers that make no sense) ignores them, and reports the others" {
	run_of r --hosts 1 --per-host 2 --steps 20
	merge r
	jq -c '.iterations' m.json >before
	range r/host0-000.db -9223372036854775807 9223372036854775807 'ProfilerStep#7'
	range r/host0-000.db 9223372036854775000 9223372036854775807 'ProfilerStep#8'
	range r/host0-000.db -9223372036854775808 -9223372036854775807 'ProfilerStep#9'
	range r/host0-000.db 5000000 4000000 'ProfilerStep#10'
	range r/host0-000.db "'x'" "X'00ff'" 'ProfilerStep#11'
	sqlite3 r/host0-000.db "INSERT INTO NVTX_EVENTS SELECT -1, 9e15, 59, globalPid | 77, printf('ProfilerStep#%.*c', 1000000, '9'), NULL FROM PROCESSES;
		INSERT INTO NVTX_EVENTS SELECT 0, 1, 59, -1, 'ProfilerStep#' || value, NULL FROM (VALUES (1), (2)) JOIN (SELECT 5 AS value);
		INSERT INTO NVTX_EVENTS SELECT 0, 1, 59, 'x', 'ProfilerStep#1', NULL;
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT -9223372036854775808, 9223372036854775807, 0, 1, 7, 0, globalPid, 1, 1, NULL FROM PROCESSES"
	merge r
	jq -c '.iterations' m.json >after
	diff before after
	# One range over all of them is a step that swallows the others of its rank.
	# (Lengths are doubles: one of 63 years is exact to 256 ns.)
	range r/host0-000.db -1 2000000000000000000 'ProfilerStep#3'
	merge r
	json m.json '(.iterations | length) == 20 and .iterations[3].ranks == 2 and ([.iterations[] | .ranks] | add) == 21
		and .iterations[3].longest_ns == 2000000000000000000 and .iterations[3].exposed_share < 0.001'
}

@test "report --merge (more ranges and iterations than there may be) counts what is left out" {
	run_of r --hosts 1 --per-host 2 --steps 1
	local file
	for file in r/*.db; do
		sqlite3 "$file" "DELETE FROM NVTX_EVENTS; INSERT INTO NVTX_EVENTS SELECT value * 10, value * 10 + 9, 59, globalPid | 77,
			'ProfilerStep#' || (value * 2 + $([ "$file" = r/host0-000.db ] && echo 0 || echo 1)), NULL FROM PROCESSES
			JOIN (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 70000) SELECT value FROM n)"
	done
	merge r
	json m.json '(.iterations | length) == 10000 and .iterations_left_out == 2 * 65536 - 10000 and .iteration_ranges_left_out == 2 * (70001 - 65536)'
	run -0 ct report --merge r
	assert_line ' 8930 ranges are beyond the limit; the first ones of each rank are compared'
	assert_line ' 65536 iterations more than 65536 are left out'
}

@test "report --merge (256 recordings, a million kernels, 1303 iterations) needs less than 128 MiB" {
	run_of r --hosts 32 --per-host 8 --steps 1303 --late 13
	merge r
	json m.json '(.iterations | length) == 1303 and all(.iterations[]; .ranks == 256 and .late_rank == 13) and .iteration_ranges_left_out == 0'
	run -0 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$CUDA_TRACE" report --merge r
	[ "$output" -lt 131072 ]
}
