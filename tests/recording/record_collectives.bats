#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace record and report: NCCL's collectives.

load ../lib/helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	RANKS=$WORKLOADS/ranks
}

# called OP KEY: what all ranks said that they called, on both communicators.
called() {
	grep "^called .* op=$1 " called | sed "s/.* $2=\([0-9]*\).*/\1/" | awk '{ sum += $1 } END { print sum }'
}

# sql SELECT: the rows of r.db, as CSV without its header.
sql() {
	"$CUDA_TRACE" report --csv --sql "$1" r.db | tail -n +2
}

@test "record (all operations, groups, a split communicator) stores each call of NCCL with its communicator and its kernel" {
	local op
	ct record -q -o r.db -- "${PROMPT[@]}" "$SIM" "$RANKS" -n 4 -s 40 --mixed >called
	for op in all_reduce broadcast reduce all_gather reduce_scatter send recv; do
		assert_equal "$op,$(sql "SELECT count(*), sum(bytes) FROM CUDA_TRACE_COLLECTIVES AS c JOIN
			ENUM_CUDA_TRACE_COLLECTIVE AS e ON e.id = operation WHERE name = '$op'")" \
			"$op,$(called $op calls),$(called $op bytes)"
	done
	# The numbers of a rank on a communicator have no gap, and its communicator is known.
	assert_equal "$(sql "SELECT count(*) FROM (SELECT max(number) - count(*) AS gap FROM CUDA_TRACE_COLLECTIVES WHERE
		number IS NOT NULL GROUP BY communicatorId, globalTid) WHERE gap != -1")" 0
	assert_equal "$(sql "SELECT count(*) FROM CUDA_TRACE_COLLECTIVES WHERE communicatorId IS NULL OR rank IS NULL
		OR (operation < 9 AND number IS NULL)")" 0
	assert_equal "$(sql "SELECT count(DISTINCT communicatorId), count(DISTINCT rank) FROM CUDA_TRACE_COLLECTIVES WHERE size = 4")" 1,4
	# Seven launches in each step of a rank, of which one is the computation; all others have their calls.
	assert_equal "$(sql "SELECT count(*) FROM CUDA_TRACE_COLLECTIVES WHERE correlationId IS NULL")" 0
	assert_equal "$(sql "SELECT count(DISTINCT c.correlationId + c.globalTid / 16777216 * 4294967296) FROM CUDA_TRACE_COLLECTIVES AS c
		JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.globalPid = c.globalTid / 16777216 * 16777216 AND
		k.correlationId = c.correlationId JOIN StringIds AS s ON s.id = k.shortName
		WHERE s.value LIKE 'ncclDevKernel%' AND k.start >= c.start")" 960
	# A split's parent is the communicator of all.
	assert_equal "$(sql "SELECT count(*) FROM CUDA_TRACE_COMMUNICATORS WHERE parentId IN
		(SELECT communicatorId FROM CUDA_TRACE_COMMUNICATORS WHERE size = 4)")" 4
	# Which rank a process is, by its launcher.
	assert_equal "$(sql "SELECT group_concat(rank || '/' || localRank || '/' || worldSize, ' ') FROM
		(SELECT * FROM CUDA_TRACE_PROCESSES WHERE rank IS NOT NULL ORDER BY rank)")" '0/0/4 1/1/4 2/2/4 3/3/4'
}

@test "report (a recording of collectives) has the section of stat: sums, waiting, bandwidth, and the late rank" {
	ct record -q -o r.db -- "${PROMPT[@]}" "$SIM" "$RANKS" -n 4 -s 80 -l 1 -u 3000 --mixed >called
	ct report --json r.db >s.json
	json s.json '.communicators | max_by(.size) | .verdict == "late_rank" and .late.rank == 1 and .compared == 320'
	local op key
	for op in all_reduce broadcast reduce all_gather reduce_scatter send recv; do
		for key in calls bytes; do
			assert_equal "$op $key $(json s.json "[.communicators[].operations[] | select(.operation == \"$op\") | .$key] | add")" \
				"$op $key $(called $op $key)"
		done
	done
	json s.json '.collectives_without_kernel == 0 and .communicators_left_out == 0'
	json s.json '[.communicators[].operations[] | select(.operation != "send" and .operation != "recv")
		| .compared_calls == .calls and (.transfer_ns + .wait_ns - .gpu_ns | fabs < 1000)] | all'
	run -0 ct report r.db
	assert_line --partial 'Collectives of NCCL, of all ranks'
	assert_line --regexp '^ [0-9a-f]{16} 4 +all_reduce +320 .* 1[0-9]\.[0-9]+ GB/s$'
	assert_line --regexp '^ communicator [0-9a-f]{16}: rank 1 \(pid [0-9]+\) arrives last in [0-9]+ % of 320 collectives, by '
}

@test "record -e kernels (a program that uses NCCL) stores no collective; report has no section" {
	ct record -q -e kernels -o r.db -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 5 >called
	assert_equal "$(sql 'SELECT count(*) FROM CUDA_TRACE_COLLECTIVES')" 0
	run -0 ct report r.db
	refute_output --partial 'Collectives of NCCL'
}

@test "record --last (collectives) keeps the communicators of the calls that are left" {
	ct record -q --last 300ms -o r.db -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 1500 -c 0 -e 1 >called
	assert_equal "$(sql 'SELECT count(*) FROM CUDA_TRACE_COMMUNICATORS')" 2
	assert_equal "$(sql 'SELECT count(*) > 0 AND count(*) = count(communicatorId) FROM CUDA_TRACE_COLLECTIVES')" 1
}

@test "record -e collectives -p (a communicator that was made before) has its id, and numbers that are its rank's own" {
	[ "$(uname -m)" = x86_64 ] || skip "such communicators are identified on x86-64 only"
	start ranks "${PROMPT[@]}" "$SIM" "$RANKS" -s 20000 -c 2000
	wait_for 30 grep -q 'under way' ranks.out
	ct record -q -e collectives -o r.db -p "$(pgrep -P "$ranks_PID" | head -n 1)" -d 3
	assert_equal "$(sql 'SELECT count(*) > 20 AND count(*) = count(communicatorId) AND count(*) = count(rank), min(number),
		max(number) + 1 = count(*) FROM CUDA_TRACE_COLLECTIVES')" 1,0,1
	assert_equal "$(sql 'SELECT size, found FROM CUDA_TRACE_COMMUNICATORS')" 2,1
	ct report --json r.db >s.json
	json s.json '.communicators[0] | .verdict == "ranks_missing" and .size == 2'
	# Without kernels, and in recordings that know nothing of such communicators.
	sqlite3 r.db 'ALTER TABLE CUDA_TRACE_COMMUNICATORS DROP COLUMN found'
	ct report --json r.db >s.json
	json s.json '.communicators[0] | .verdict == "ranks_missing" and .size == 2'
}

# has_all_replays STEPS: s.json has what four ranks called, all ranks' kernels of each call compared.
has_all_replays() {
	local op key
	for op in all_reduce broadcast reduce all_gather reduce_scatter send recv; do
		for key in calls bytes; do
			assert_equal "$op $key $(json s.json "[.communicators[].operations[] | select(.operation == \"$op\") | .$key] | add")" \
				"$op $key $(called $op $key)"
		done
	done
	json s.json '[.communicators[].operations[] | select(.operation != "send" and .operation != "recv")
		| .compared_calls == .calls] | all'
	json s.json ".communicators | max_by(.size) | .compared == $1 * 4"
	json s.json '.collectives_without_kernel == 0 and .collectives_of_unknown_nodes == 0'
}

@test "record (collectives that a graph replays, four ranks) stores each replay with its node; report compares the ranks" {
	ct record -q -o r.db -- "${PROMPT[@]}" "$SIM" "$RANKS" -n 4 -s 40 --mixed --replayed >called
	ct report --json r.db >s.json
	has_all_replays 40
	# Seven kernels of NCCL, and the computation, in each step of a rank; each has its own calls.
	assert_equal "$(sql "SELECT count(*), count(DISTINCT c.globalTid || ' ' || c.correlationId || ' ' || c.graphNodeId) FROM
		CUDA_TRACE_COLLECTIVES AS c JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.globalPid = c.globalTid / 16777216 * 16777216 AND
		k.correlationId = c.correlationId AND k.graphNodeId = c.graphNodeId AND k.start = c.start")" 1280,960
	# What was captured was not executed.
	assert_equal "$(sql "SELECT count(*), count(number) FROM CUDA_TRACE_COLLECTIVES WHERE correlationId IS NULL AND graphNodeId > 0")" 32,24
	# Replays of one captured call have numbers of their own, which all ranks share.
	assert_equal "$(sql "SELECT count(*), min(ranks), max(ranks) FROM (SELECT count(DISTINCT globalTid) AS ranks FROM
		CUDA_TRACE_COLLECTIVES WHERE size = 4 AND operation = 1 AND number < 0 GROUP BY number)")" 40,4,4
}

@test "record (a rank is late before each replay, stat observes the same run) has the sums and the late rank of stat" {
	# Nothing is called before both tools observe all ranks, which have the library from their start on.
	open_gate gate 4
	ct record -q -o r.db -- "$CUDA_TRACE" stat --json -o stat.json -- "$SIM" env CUDA_INJECTION64_PATH="$AGENT" \
		"$RANKS" -n 4 -s 80 -l 1 -u 5000 --mixed --replayed -g gate >called
	ct report --json r.db >s.json
	has_all_replays 80
	local sums='[.communicators[] | {communicator, size, seen, compared, verdict, late: .late.rank,
		operations: [.operations[] | del(.bus_bytes_per_second)], ranks: [.ranks[] | del(.late, .late_ns)] | sort_by(.rank, .pid)}]
		| sort_by(.communicator) | tostring'
	assert_equal "$(json s.json "$sums")" "$(json stat.json "$sums")"
	json s.json '.communicators | max_by(.size) | .verdict == "late_rank" and .late.rank == 1'
}

@test "record -p (a graph with collectives that was captured before) report says how many kernels it does not know" {
	start ranks "${PROMPT[@]}" "$SIM" "$RANKS" -s 4000 --replayed
	wait_for 20 grep -q 'under way' ranks.out
	ct record -q -o r.db -p "$ranks_PID" -d 1
	kill "$ranks_PID"
	local kernels
	kernels=$(sql "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds AS s ON s.id = shortName WHERE s.value LIKE 'ncclDevKernel%'")
	ct report --json r.db >s.json
	assert_equal "$(json s.json .collectives_of_unknown_nodes)" "$kernels"
	((kernels > 10))
	ct report --merge --json r.db >m.json
	assert_equal "$(json m.json .collectives_of_unknown_nodes)" "$kernels"
	run -0 ct report r.db
	assert_line --regexp '^ [1-9][0-9,]* kernels in graphs whose capture was not observed: not in these numbers$'
}
