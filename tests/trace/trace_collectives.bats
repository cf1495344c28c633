#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace trace: NCCL's calls.

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

@test "trace -e collectives --json (all operations, four ranks) has each call, with its bytes and its number" {
	local op
	ct trace -e collectives --json -o t.json -- "$SIM" "$RANKS" -n 4 -s 20 --mixed >called
	for op in all_reduce broadcast reduce all_gather reduce_scatter send recv; do
		assert_equal "$op $(jq -s "[.[] | select(.event == \"collective\" and .operation == \"$op\")]
			| \"\(length) \(map(.bytes) | add)\"" -r t.json)" "$op $(called $op calls) $(called $op bytes)"
	done
	# The same id in all ranks; each rank once.
	run -0 jq -s -c '[.[] | select(.event == "communicator" and .size == 4)]
		| [(map(.communicator_id) | unique | length), (map(.rank) | sort)]' t.json
	assert_output '[1,[0,1,2,3]]'
	# Numbers of a communicator are those of a process in order, without a gap.
	jq -s -e '[.[] | select(.event == "collective" and .number != null)] | group_by([.pid, .communicator])
		| map(map(.number) | sort == [range(length)]) | all' t.json
	jq -s -e '[.[] | select(.event == "collective" and .operation == "broadcast")] | all(.peer >= 0 and .peer < 4)' t.json
}

@test "trace -e collectives (text) shows operation, elements, type and communicator" {
	ct trace -e collectives -o t.txt -- "$SIM" "$RANKS" -s 5 >called
	run -0 cat t.txt
	assert_line --regexp '\[all_reduce\] 262144 float32, communicator 0x[0-9a-f]+$'
	assert_line --regexp '\[communicator\] 0x[0-9a-f]+, id [0-9a-f]{16}, rank 1 of 2$'
}

@test "trace (without -e collectives) has no calls of NCCL" {
	ct trace --json -o t.json -- "$SIM" "$RANKS" -s 5 >called
	jq -s -e 'all(.event != "collective" and .event != "communicator") and any(.event == "kernel")' t.json
}

@test "trace -e collectives (a graph replays them) has each replay, with its node, and the same numbers in all ranks" {
	local op
	ct trace -e collectives --json -o t.json -- "$SIM" "$RANKS" -n 2 -s 12 --replayed >called
	jq -s -c 'map(select(.event == "collective"))' t.json >calls
	# Captured once in each rank; executed by replays alone.
	assert_equal "$(jq -c '[.[] | select(.graph_node == null)] | length > 0 and all(.tid != null)' calls)" true
	for op in $(sed -n 's/^called .* op=\([a-z_]*\) .*/\1/p' called | sort -u); do
		assert_equal "$op $(jq -r "[.[] | select(.graph_node != null and .operation == \"$op\")]
			| \"\(length) \(map(.bytes) | add)\"" calls)" "$op $(called "$op" calls) $(called "$op" bytes)"
	done
	jq -e '[.[] | select(.graph_node != null)] | all(.tid == null and .replay >= 0) and
		(group_by(.pid) | map(map([.number, .replay]) | sort) | .[0] == .[1] and (.[0] | unique | length) == (.[0] | length))' calls
	# Each has the kernel of its node.
	jq -s -e '(map(select(.event == "kernel") | "\(.pid) \(.correlation) \(.graph_node)") | unique) as $kernels |
		[.[] | select(.event == "collective" and .graph_node != null) | "\(.pid) \(.correlation) \(.graph_node)"] |
		length > 0 and all(. as $one | $kernels | index($one) != null)' t.json
	# Nodes are collected for this, and not shown.
	jq -s -e 'all(.event != "graph_node")' t.json
	ct trace -e collectives -o t.txt -- "$SIM" "$RANKS" -n 2 -s 3 --replayed >called
	grep -qE '\[all_reduce\] [0-9]+ float32, communicator 0x[0-9a-f]+, replayed$' t.txt
}

@test "trace -e collectives -p (a graph was captured before) says how many kernels have no line" {
	start ranks "$SIM" "$RANKS" -s 4000 --replayed
	wait_for 20 grep -q 'under way' ranks.out
	run -0 --separate-stderr ct trace -e collectives --json -o t.json -p "$ranks_PID" -d 1
	assert_regex "$stderr" 'cuda-trace: [1-9][0-9]* kernels of NCCL in graphs have no line of a collective: their capture was not observed'
}
