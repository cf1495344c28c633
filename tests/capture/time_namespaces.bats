#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Time namespaces (LXC, CRIU, runc): the clock of the program, or of the tool, has an offset.

load ../lib/helpers

AHEAD=100000 # s

setup() {
	requires root bpf sim
	unshare --time true 2>/dev/null || skip "needs a kernel with time namespaces"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# in_namespace SECONDS CMD...: CMD with a CLOCK_MONOTONIC that is that far ahead.
in_namespace() {
	local seconds=$1; shift
	unshare --fork --kill-child --time --monotonic "$seconds" --boottime "$seconds" -- "$@"
}

# is_now TIMESTAMP SINCE: an RFC 3339 time of between SINCE (s since 1970) and now.
is_now() {
	local at; at=$(date -d "$1" +%s)
	assert [ "$at" -ge "$2" ]
	assert [ "$at" -le "$(date +%s)" ]
}

@test "trace (a program in a time namespace) prints the times of the machine" {
	local ahead began source expected line
	for source in cupti driver; do
		for ahead in $AHEAD -500; do
			began=$(date +%s)
			ct trace --source $source -e kernels,copies,api,sync,nvtx --json -o out.json -- \
				unshare --fork --time --monotonic "$ahead" -- "$SIM" "$WORKLOADS/saxpy" --repeat 3 >out
			expected=$(expect_key out launches)
			assert_equal "$(jq -rs 'map(select(.event == "kernel" or .event == "launch")) | length' out.json)" "$expected"
			jq -es 'map(select(.event == "lost"))[0].lost.total == 0' out.json
			while read -r line; do is_now "$line" "$began"; done < <(jq -r 'select(.timestamp).timestamp' out.json)
			[ $source = driver ] ||
				jq -es 'map(select(.event == "kernel")) | all(.queue_ns >= 0 and .queue_ns < 10000000000 and .gpu_ns > 0)' out.json
		done
	done
}

@test "stat, record (a program in a time namespace that runs already) have its kernels at the right times" {
	start storm unshare --fork --kill-child --time --monotonic $AHEAD -- "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	ready storm
	local pid; pid=$(pgrep -f "^$WORKLOADS/launch-storm" | tail -n 1)
	ct stat -p "$pid" -d 1 --json -o out.json
	json out.json '.totals.kernels > 0 and .lost.total == 0 and .first_record_ms < 5000 and .time.window_ns > 5e8 and .time.window_ns < 2e9'
	ct record -q -p "$pid" -d 3 --last 1s -o last.db
	# About 400 a second; the first may be running when the recording begins.
	run -0 sqlite3 last.db "SELECT count(*) BETWEEN 100 AND 900, min(start) > -1e8, max(end) < 4e9 FROM CUPTI_ACTIVITY_KIND_KERNEL"
	assert_output "1|1|1"
}

@test "trace, stat, record (the tool in a time namespace) print the times of the machine" {
	local began pid; began=$(date +%s)
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	ready storm
	pid=$(pgrep -f "^$WORKLOADS/launch-storm" | tail -n 1)
	in_namespace $AHEAD timeout 60 "$CUDA_TRACE" trace -p "$pid" -n 3 --json -o out.json
	is_now "$(jq -rs '.[0].timestamp' out.json)" "$began"
	in_namespace $AHEAD timeout 60 "$CUDA_TRACE" stat -p "$pid" -d 1 --json -o out.json
	json out.json '.totals.kernels > 0 and .lost.total == 0 and .first_record_ms < 5000'
	in_namespace -500 timeout 60 "$CUDA_TRACE" record -q -p "$pid" -d 1 -o out.db
	run -0 sqlite3 out.db "SELECT count(*) > 0, min(start) > -1e8, max(end) < 3e9 FROM CUPTI_ACTIVITY_KIND_KERNEL"
	assert_output "1|1|1"
	run -0 sqlite3 out.db "SELECT abs(utcEpochNs / 1e9 - $(date +%s)) < 60 FROM TARGET_INFO_SESSION_START_TIME"
	assert_output 1
}
