#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What metrics and top say when more batches come at the same time than the aggregate program has
# lanes (lanes_busy). On its own that wants 32 threads that are put off in the middle of the program.

load ../lib/helpers

setup() {
	requires bpf sim curl jq python3
	cd "$BATS_TEST_TMPDIR" || return 1
	ID=$((RANDOM % 1000))
	cat >hold.py <<-'END'
		import ctypes, mmap, os, platform, struct, sys, time

		number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
		attributes = struct.pack("=II", int(sys.argv[1]), 0) + bytes(8)
		get_fd_by_id = 14
		fd = ctypes.CDLL(None, use_errno=True).syscall(number, get_fd_by_id, attributes, len(attributes))
		if fd < 0:
		    sys.exit(os.strerror(ctypes.get_errno()))
		offset, page = int(sys.argv[2]), mmap.PAGESIZE
		lanes = mmap.mmap(fd, (offset + 2048 + page - 1) // page * page)
		taken = [offset + 64 * lane for lane in range(32)]
		# Again and again, as who is in one leaves it.
		for _ in range(20):
		    for at in taken:
		        lanes[at] = 1
		    time.sleep(0.01)
		print("held", flush=True)
		while not os.path.exists("let-go"):
		    time.sleep(0.01)
		for at in taken:
		    lanes[at] = 0
	END
}

# find_lanes: sets `id` and `offset`, where the started tool's aggregate program has its lanes.
find_lanes() {
	for id in $(sed -n "s/^map_id:[[:space:]]*//p" /proc/"$tool_PID"/fdinfo/* | sort -u); do
		offset=$(bpftool btf dump map id "$id" 2>/dev/null |
			sed -n "s/.* offset=\([0-9]*\) size=2048 (VAR 'lanes')$/\1/p")
		[ -z "$offset" ] || break
	done
	[ -n "$offset" ] || skip "needs a bpftool that shows where variables are"
}

# hold_lanes: takes every one of them, until release_lanes.
hold_lanes() {
	rm -f let-go
	start hold python3 hold.py "$id" "$offset"
	wait_for 10 grep -q held hold.out
}

release_lanes() {
	: >let-go
	finished "$hold_PID"
	assert_equal "$status" 0
}

# said FILTER: what top said last.
said() {
	tail -n 1 tool.out | jq -r "$1" 2>/dev/null
}

@test "top (every lane taken for a while) counts each record that found none, once, and goes on" {
	local launches kernels
	# The same file under a name that nobody else has: probes belong to files.
	ln "$B/tests/capture/crowd/crowd" "crowd$ID" || skip "needs hard links"
	export CUDA_TRACE_AGENT=$PWD/crowd$ID
	start tool "$CUDA_TRACE" top --json -c "crowd$ID" -d 300ms
	wait_for 15 test -s tool.out
	find_lanes
	hold_lanes
	"./crowd$ID" --launches 6400 --wait-ms 5000 >crowd.out
	sleep 0.5
	release_lanes
	lost() { [ "$(said .lost)" = "$1" ]; }
	wait_for 10 lost $(($(expect_key crowd.out launches) + $(expect_key crowd.out kernels)))
	assert_equal "$(said "[.processes[] | select(.process == \"crowd$ID\" and .totals.launches > 0)] | length")" 0
	# One that loses what is in the middle: the gap in its numbers is the same loss.
	start crowd "./crowd$ID" --launches 25600 --rate 6400 --wait-ms 5000 --hold-ms 2500
	some() { [ "$(said "[.processes[].totals.launches] | add > 0")" = true ]; }
	wait_for 10 some
	hold_lanes
	sleep 0.5
	release_lanes
	wait_for 20 grep -q '"ended": *true' tool.out
	finished "$crowd_PID"
	jq -s "[.[] | select(any(.processes[]; .process == \"crowd$ID\" and .ended))] | last" tool.out >last
	launches=$(jq "[.processes[].totals.launches] | add" last)
	kernels=$(jq "[.processes[].totals.kernels] | add" last)
	assert [ "$launches" -lt 25600 ]
	assert_equal "$((launches + kernels + $(jq .lost last)))" $((2 * 6400 + 2 * 25600))
}

@test "top (every lane taken, a program without the agent) counts each of its calls that found none" {
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	cp "$WORKLOADS/saxpy" "without$ID"
	mkfifo gate
	start without env PROGRAM_GATE=gate "$SIM" "./without$ID"
	wait_for 20 grep -q libcuda "/proc/$without_PID/maps"
	start tool "$CUDA_TRACE" top --json -c "without$ID" -d 300ms
	watched() { [ "$(said .sources.driver)" = 1 ]; }
	wait_for 20 watched
	find_lanes
	hold_lanes
	: >gate
	finished "$without_PID"
	release_lanes
	# Launches, copies and allocations at least.
	lost() { [ "$(said .lost)" -ge "$1" ]; }
	wait_for 10 lost $(($(expect_key without.out launches) + $(expect_key without.out memcpys) + $(expect_key without.out allocs)))
	assert_equal "$(said '[.processes[] | select(.totals.launches > 0)] | length')" 0
}

@test "metrics (every lane taken) reports the reason, and that nothing was drained" {
	start tool "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' tool.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' tool.err)
	figure() { curl -sS -f --max-time 10 "$URL/metrics" >scrape; awk -v name="$1" '$1 == name { print $NF }' scrape; }
	cp "$WORKLOADS/saxpy" "with$ID"
	assert_equal "$(figure 'cuda_trace_lost_records_total{reason="lanes_busy"}')" 0
	find_lanes
	hold_lanes
	CUDA_INJECTION64_PATH=$AGENT "$SIM" "./with$ID" >with.out
	sleep 0.3
	# Launches, kernels, copies and allocations at least; should others run here, theirs, too.
	assert [ "$(figure 'cuda_trace_lost_records_total{reason="lanes_busy"}')" -ge \
		$(($(expect_key with.out launches) + $(expect_key with.out kernels) + $(expect_key with.out memcpys) + $(expect_key with.out allocs))) ]
	assert [ "$(figure cuda_trace_collects_postponed_total)" -gt 0 ]
	release_lanes
	figure cuda_trace_scrapes_total
	run ! grep "^cuda_kernel_launches_total{comm=\"with$ID\"" scrape
}
