#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace stat: NCCL's collectives by communicator and operation, and which rank is late. The
# simulated NCCL's kernels wait for the last rank, as real ones do.

load ../lib/helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	# A transfer of 1 MiB takes 20 us and 104.8 us.
	RANKS=$WORKLOADS/ranks
}

teardown() {
	stop_started
}

# called FILE COMM OP KEY: what all ranks said that they called.
called() {
	grep "^called .* comm=$2 op=$3 " "$1" | sed "s/.* $4=\([0-9]*\).*/\1/" | awk '{ sum += $1 } END { print sum }'
}

# verdict FILE: of the communicator of most collectives: verdict and, if one is late, its rank.
verdict() {
	json "$1" '.communicators | max_by(.compared) | [.verdict, .late.rank // empty] | map(tostring) | join(" ")'
}

# has_all: s.json has what four ranks called, and all ranks' kernels of each call were compared.
has_all() {
	local op key
	for op in all_reduce broadcast reduce all_gather reduce_scatter send recv; do
		for key in calls bytes; do
			assert_equal "$op $key $(json s.json "[.communicators[] | select(.size == 4) | .operations[]
				| select(.operation == \"$op\") | .$key] | add")" "$op $key $(called called world $op $key)"
		done
	done
	json s.json '[.communicators[].operations[] | select(.operation != "send" and .operation != "recv")
		| .compared_calls == .calls] | all'
}

@test "stat (all operations, groups, a split communicator, four ranks) counts what the ranks called" {
	ct stat --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -n 4 -s 40 --mixed >called
	assert_equal "$(json s.json '[.communicators[] | [.size, .seen]] | sort | tostring')" '[[2,2],[2,2],[4,4]]'
	local key
	has_all
	for key in calls bytes; do
		assert_equal "$(json s.json "[.communicators[] | select(.size == 2) | .operations[]
			| select(.operation == \"all_reduce\") | .$key] | add")" "$(called called half all_reduce $key)"
	done
	json s.json '.collectives_without_kernel == 0 and .communicators_left_out == 0'
	# Five collectives in each step, two of which are one kernel.
	assert_equal "$(json s.json '.communicators[] | select(.size == 4) | .compared')" 160
	# Those of split ones are known where communicators can be read.
	local ranks='[0,0,0,1,1,1,2,3]'
	[ "$(uname -m)" = x86_64 ] || ranks='[0,0,1,1,2,2,3,3]'
	assert_equal "$(json s.json '[.communicators[].ranks[].rank] | sort | tostring')" "$ranks"
}

@test "stat (functions of NCCL begin with endbr64) has its probes on the instruction behind it, which cost less" {
	[ "$(uname -m)" = x86_64 ] || skip "reads x86-64"
	start stat "$CUDA_TRACE" stat -o s.txt -- "${PROMPT[@]}" "$SIM" "$RANKS" -n 1 -s 100000
	# Of a process that runs, the code has the kernel's breakpoints in it.
	cat >code.py <<-'END'
		import glob, subprocess, sys
		symbols = subprocess.check_output(["nm", "-D", "--defined-only", sys.argv[1]], text=True)
		at = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" ncclAllReduce"))
		for path in glob.glob("/proc/[0-9]*/maps"):
		    try:
		        for line in open(path):
		            if "libnccl.so" in line and line.split()[2] == "00000000":
		                memory = open(path.replace("maps", "mem"), "rb")
		                memory.seek(int(line.split("-")[0], 16) + at)
		                print(memory.read(5).hex())
		    except OSError:
		        pass
	END
	probed() { python3 code.py "$B/simcuda/libnccl.so.2" | sort -u >code && grep -q cc code; }
	wait_for 20 probed
	assert_equal "$(cat code)" f30f1efacc
}

@test "stat (collectives that a graph replays, four ranks) counts each replay, and compares the ranks" {
	ct stat --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -n 4 -s 40 --mixed --replayed >called
	has_all
	json s.json '.collectives_without_kernel == 0 and .collectives_of_unknown_nodes == 0'
	json s.json '[.communicators[] | .verdict] | unique == ["balanced"]'
}

@test "stat (a rank is late before each replay of a graph) names it" {
	local rank
	for rank in 0 1; do
		ct stat --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 60 -l $rank -u 5000 --replayed >called
		assert_equal "$(verdict s.json)" "late_rank $rank"
	done
}

@test "stat -p (a graph with collectives that was captured before) says how many kernels it does not know" {
	start ranks "${PROMPT[@]}" "$SIM" "$RANKS" -s 4000 --replayed
	wait_for 20 grep -q 'under way' ranks.out
	ct stat -o s.txt -p "$ranks_PID" -d 1
	grep -E '^ [1-9][0-9,]* kernels in graphs whose capture was not observed: not in these numbers$' s.txt
	kill "$ranks_PID"
}

@test "stat (all-reduce of 1 MiB on two ranks) divides its time into transfer and waiting, and knows the bus bandwidth" {
	ct stat --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 60 -l 1 -u 2000 >called
	json s.json '.communicators[0].operations[0] | .transfer_ns + .wait_ns == .gpu_ns and .calls == 120'
	# 8.40 GB/s, within 2 %.
	json s.json '.communicators[0].operations[0].bus_bytes_per_second | . > 8.23e9 and . < 8.57e9'
	# Rank 0 waits; rank 1 hardly does.
	json s.json '.communicators[0].ranks | map({(.rank | tostring): .wait_ns}) | add | ."0" > 60 * 1500000 and ."1" < ."0" / 4'
	ct stat -o s.txt -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 60 -l 1 -u 2000 >called
	run -0 cat s.txt
	assert_line --regexp '^ [0-9a-f]{16} 2 +all_reduce +120 +120.00 MiB .* 8\.[34][0-9] GB/s$'
	assert_line --regexp "^ communicator [0-9a-f]{16}: rank 1 \(pid [0-9]+\) arrives last in [0-9]+ % of 60 collectives, by [0-9.]+ ms on average$"
}

@test "stat (one rank is late by 1 or 5 ms) names it, whichever it is" {
	local rank us
	for rank in 0 1; do
		for us in 1000 5000; do
			ct stat --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 80 -l $rank -u $us >called
			assert_equal "$rank $us $(verdict s.json)" "$rank $us late_rank $rank"
			json s.json ".communicators[0].late.mean_ns > $us * 500"
		done
	done
}

@test "stat (one of four ranks is late, once in each step of five collectives) names it" {
	ct stat --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -n 4 -s 80 -l 2 -u 20000 --mixed >called
	assert_equal "$(verdict s.json)" 'late_rank 2'
}

@test "stat (balanced ranks) blames nobody" {
	ct stat --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 200 >called
	assert_equal "$(verdict s.json)" balanced
	json s.json '.communicators[0].late == null and .communicators[0].text == ""'
}

@test "stat (one rank is not seen) says so, and gives no verdict" {
	start other env SIMNCCL_ID="/simnccl-$$" RANK=1 WORLD_SIZE=2 "${PROMPT[@]}" "$SIM" "$RANKS" -s 60 -l 1
	ct stat --json -o s.json -- env SIMNCCL_ID="/simnccl-$$" RANK=0 WORLD_SIZE=2 "${PROMPT[@]}" "$SIM" "$RANKS" -s 60 >called
	assert_equal "$(verdict s.json)" ranks_missing
	assert_equal "$(json s.json '.communicators[0] | [.size, .seen, .compared] | tostring')" '[2,1,0]'
	assert_equal "$(json s.json .communicators[0].text)" '1 of 2 ranks were seen: whether one is late is not known'
	json s.json '.communicators[0].operations[0] | .calls == 60 and .transfer_ns == null and .bus_bytes_per_second == null'
}

# Ranks that run already, and were not prepared.
running_ranks() {
	[ "$(uname -m)" = x86_64 ] || skip "communicators that were made before are identified on x86-64 only"
	start ranks "${PROMPT[@]}" "$SIM" "$RANKS" -s 20000 -c 2000 "$@"
	wait_for 30 grep -q 'under way' ranks.out
}

@test "stat -p (one of two ranks that run already) knows who it is, and gives no verdict" {
	running_ranks
	ct stat --json -o s.json -p "$(pgrep -P "$ranks_PID" | head -n 1)" -d 4
	assert_equal "$(verdict s.json)" ranks_missing
	json s.json '.communicators[0] | .communicator != null and .size == 2 and .seen == 1 and .late == null and .operations[0].calls > 100'
}

@test "stat -p (ranks that run already, one late) compares them, and names it" {
	running_ranks -l 1 -u 1000
	ct stat --json -o s.json -p "$ranks_PID" -d 6
	assert_equal "$(verdict s.json)" 'late_rank 1'
	# Both called the same; what came before they were aligned, and at the end, was not compared.
	json s.json '.communicators | length == 1'
	json s.json '.communicators[0] | .size == 2 and .seen == 2 and .compared > 0.7 * .operations[0].kernels / 2 and
		.late.mean_ns > 500000 and .late.mean_ns < 2000000'
	# The verdict of a recording is the same.
	ct record -q -o r.db -p "$ranks_PID" -d 6
	ct report --json r.db >r.json
	assert_equal "$(verdict r.json)" 'late_rank 1'
	assert_equal "$(sqlite3 r.db 'SELECT count(*), sum(found), count(DISTINCT communicatorId), sum(rank), sum(size) FROM CUDA_TRACE_COMMUNICATORS')" \
		'2|2|1|1|4'
}

@test "stat -p (balanced ranks that run already) blames nobody" {
	running_ranks
	ct stat --json -o s.json -p "$ranks_PID" -d 5
	assert_equal "$(verdict s.json)" balanced
}

@test "stat -p (ranks that had split their communicator) identifies both" {
	running_ranks -n 4 --mixed
	ct stat --json -o s.json -p "$ranks_PID" -d 5
	json s.json '[.communicators[] | [.communicator != null, .size, .seen]] | sort == [[true, 2, 2], [true, 2, 2], [true, 4, 4]]'
}

@test "stat -p (communicators that are made anew, unseen, at the address of others) distinguishes them" {
	running_ranks -n 4 --mixed --anew 100
	ct stat --json -o s.json -p "$ranks_PID" -d 6
	# Two halves of four ranks, several times; each has the calls of its 100 steps.
	json s.json '[.communicators[] | select(.size == 2)] | length >= 6 and all(.communicator != null and .seen == 2) and
		all([.operations[].calls] | add <= 200)'
	json s.json '[.communicators[] | select(.size == 4)] | length == 1 and (.[0].verdict == "balanced" or .[0].verdict == "late_rank")'
}

@test "numbers of ranks that were found (shifted, in batches, in lockstep, at random) are right, or none" {
	cc -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all \
		-I"$TOP" -o unit "$TOP/tests/stat/unit_alignment.c" $(tool_sources comm_alignment)
	run -0 ./unit
	assert_output - <<-'END'
	one a step: aligned, wrong 0, complete
	one a step, shifted: aligned, wrong 0, complete
	one a step, a rank comes late: aligned, wrong 0, complete
	one a step, shifted, in batches: aligned, wrong 0, complete
	ten a step, shifted: aligned, wrong 0, complete
	a hundred a step, shifted: aligned, wrong 0, complete
	in lockstep, shifted: aligned, wrong 0, complete
	without a rest, shifted: not aligned, wrong 0, incomplete
	other bytes: not aligned, wrong 0, incomplete
	random: incomplete
	END
}

@test "stat (-e without collectives; a program without NCCL) has none" {
	ct stat -e kernels --json -o s.json -- "${PROMPT[@]}" "$SIM" "$RANKS" -s 5 >called
	json s.json '.communicators == [] and .totals.kernels == 20'
	run -0 ct stat -- "$SIM" "$WORKLOADS/saxpy"
	refute_output --partial NCCL
}

@test "stat (stopped while NCCL is called, a ring buffer of 1 MiB) includes lost calls of NCCL in the total" {
	# The tool is stopped from the hundredth step to the ranks' end.
	# shellcheck disable=SC2016 # for the inner shell
	local program='"$0" "$1" -s 12000 -c 0 -e 1 & until grep -q "under way" called; do sleep 0.01; done
		kill -STOP $PPID; wait $!; kill -CONT $PPID'
	ct stat --buffer 1 -e collectives --json -o s.json -- sh -c "$program" "$SIM" "$RANKS" >called
	json s.json '.lost.ring_full > 1000'
	# Each call, its launch and its kernel, and those of the computation.
	json s.json "([.communicators[].operations[].calls] | add) + .totals.launches + .totals.kernels + .lost.total == \
		$(called called world all_reduce calls) * 5"
}

@test "calls and launches (whose clocks differ by 200 ns) belong together as they follow each other" {
	cc -std=gnu11 -Wall -Wextra -Werror -Wno-missing-field-initializers -D_GNU_SOURCE -I"$TOP" -I"$B" -o unit "$TOP/tests/stat/unit_collectives.c" \
		$(tool_sources collectives comm_alignment comm_meetings graph_collectives kernel_halves key_index nccl_comms nccl_calls array_grow clock) -lz
	run -0 ./unit
	assert_output - <<-'END'
	+0 ns: 50, 50, without 0
	-200 ns: 50, 50, without 0
	+200 ns: 50, 50, without 0
	END
}
