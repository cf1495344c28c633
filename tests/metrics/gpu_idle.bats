#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace metrics --idle: the time by cause against what programs with one planted cause say of themselves
# (tests/workloads/idle), also of a gap that lasts, and of a kernel that does.

load ../lib/helpers

setup() {
	requires root bpf sim curl
	cd "$BATS_TEST_TMPDIR" || return 1
}

exporter() {
	start exporter "$CUDA_TRACE" metrics --idle --listen 127.0.0.1:0 "$@"
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

traced() {
	CUDA_INJECTION64_PATH=$AGENT "${PROMPT[@]}" "$SIM" "$@"
}

# seconds NAME [LABEL]: the sum of its samples.
seconds() {
	awk -v name="$1{" -v label="${2:-}" 'index($0, name) == 1 && index($0, label) { sum += $NF }
		END { printf "%.9f\n", sum }' scrape
}

scrape() {
	curl -sS -f --max-time 10 -o scrape "$@" "$URL/metrics"
}

# is EXPRESSION: of numbers
is() {
	awk "BEGIN { exit !($1) }" || { cat scrape; fail "not so: $1"; }
}

# observed SECONDS: so much has been explained by now.
observed() {
	scrape
	awk "BEGIN { exit !($(seconds cuda_gpu_observed_seconds_total) >= $1) }"
}

# waited SECONDS: so much in collectives, by now.
waited() {
	scrape
	awk "BEGIN { exit !($(seconds cuda_gpu_idle_seconds_total 'cause="collective"') >= $1) }"
}

# What is not idle is what the kernels took, exactly: once the last of them has been explained.
settled() {
	local busy
	scrape
	busy=$(seconds cuda_gpu_observed_seconds_total)-$(seconds cuda_gpu_idle_seconds_total)
	awk "BEGIN { off = $busy - $(seconds cuda_kernel_duration_seconds_sum); exit !($busy > 0 && off * off < 1e-12) }"
}

# planted NAME CAUSE STEPS: most of the idle time has that cause, and all of it is what the program says (5 %).
# Before the tool has found the program, its threads are not known: that is unexplained.
planted() {
	local idle cause all
	exporter
	traced "$WORKLOADS/idle/$1" "$3" >out
	assert_equal "$(sed -n 's/^cause //p' out)" "$2"
	idle=$(awk "BEGIN { print $(expect_key out idle_ns) / 1e9 }")
	wait_for 20 settled
	cause=$(seconds cuda_gpu_idle_seconds_total "cause=\"$2\"") all=$(seconds cuda_gpu_idle_seconds_total)
	is "$all > 0.95 * $idle && $all < 1.05 * $idle"
	is "$cause > 0.5 * $all"
	for other in $(sed -n 's/^cuda_gpu_idle_seconds_total{.*cause="\([a-z_]*\)".*/\1/p' scrape); do
		[ "$other" = "$2" ] || is "$(seconds cuda_gpu_idle_seconds_total "cause=\"$other\"") < $cause"
	done
	assert_equal "$(grep -c '^cuda_gpu_idle_seconds_total{' scrape)" 13
	grep -qx 'cuda_trace_idle_reduced 0' scrape
	assert_equal "$(seconds cuda_trace_idle_lost_total)" 0.000000000
}

@test "metrics --idle (sleeps) says so, and its sum is the program's idle time" {
	planted sleeps sleep 250
}

@test "metrics --idle (a server without requests) says that there was no work" {
	planted server no_work 80
}

# eBPF knows where the interpreter is when the agent reports itself. On a busy machine, the tool finds a process later: what that did
# until then is not explained.
@test "metrics --idle (a thread of Python holds the GIL) blames the GIL, from the first gap on" {
	exporter
	for _ in 1 2 3 4; do
		traced "${PYTHON:-python3}" "$TOP/tests/workloads/idle/gil.py" 30 >out
	done
	wait_for 20 settled
	is "$(seconds cuda_gpu_idle_seconds_total 'cause="gil"') > 0.08"
	is "$(seconds cuda_gpu_idle_seconds_total 'cause="lock"') < 0.015"
}

@test "metrics --idle --collectives (a rank comes late) counts how long the others' GPUs waited" {
	local waited
	exporter --collectives -v
	SIMCUDA_DEVICES=3 CUDA_INJECTION64_PATH=$AGENT start ranks "$SIM" "$WORKLOADS/ranks" -n 3 -s 200 -l 1 -u 5000 --gpus --gate go
	wait_for 20 grep -q 'collectives are observed' exporter.err
	: >go
	# 400 waits of 5 ms, none of which is longer than from the first rank to the last.
	wait_for 20 waited 1.9
	waited=$(seconds cuda_gpu_idle_seconds_total 'cause="collective"')
	is "$waited <= 2 * $(awk '/^cuda_collective_skew_seconds_sum/ { sum += $NF } END { print sum }' scrape)"
}

@test "metrics --idle (both formats) satisfies promtool" {
	requires promtool
	exporter
	traced "$WORKLOADS/idle/sleeps" 100 >out
	wait_for 20 observed 0.5
	run promtool check metrics <scrape
	assert_success
	assert_output ""
	scrape -H 'Accept: application/openmetrics-text'
	grep -q '^# TYPE cuda_gpu_idle_seconds counter' scrape
	assert_equal "$(grep -v '^#' scrape | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
}

# Nothing ends either: the gap must grow while it lasts, and the kernel must not be taken for one.
@test "metrics --idle (a gap of seconds, then a kernel of seconds) counts the gap while it lasts, and not the kernel" {
	local slept works idle
	exporter
	CUDA_INJECTION64_PATH=$AGENT start program "${PROMPT[@]}" "$SIM" "${PYTHON:-python3}" "$TOP/tests/workloads/idle/lasts.py" wake end
	wait_for 20 grep -q sleeps program.out
	wait_for 30 observed 2.5
	refute grep -q works program.out
	is "$(seconds cuda_gpu_idle_seconds_total 'cause="sleep"') > 2"
	: >wake
	wait_for 30 grep -q done program.out
	: >end
	finished "$program_PID"
	slept=$(awk "BEGIN { print $(expect_key program.out slept_ns) / 1e9 }")
	works=$(awk "BEGIN { print $(expect_key program.out works_ns) / 1e9 }")
	wait_for 30 observed "0.99 * ($slept + $works)"
	idle=$(seconds cuda_gpu_idle_seconds_total)
	# After the last kernel it sleeps again.
	is "$idle >= 0.99 * $slept"
	is "$(seconds cuda_gpu_observed_seconds_total) - $idle > 0.99 * $works"
	is "$(seconds cuda_gpu_observed_seconds_total) - $idle < 1.01 * $works + 0.01"
	is "$(seconds cuda_gpu_idle_seconds_total 'cause="sleep"') > 0.9 * $idle"
	assert_equal "$(seconds cuda_trace_idle_lost_total 'reason="late"')" 0.000000000
}

@test "metrics --idle (no scheduler events) says that it is reduced, and leaves unexplained what it cannot know" {
	export CUDA_TRACE_SCHEDULER=off
	exporter
	traced "$WORKLOADS/idle/sleeps" 100 >out
	wait_for 20 observed 0.7
	grep -qx 'cuda_trace_idle_reduced 1' scrape
	is "$(seconds cuda_gpu_idle_seconds_total 'cause="unexplained"') > 0.9 * $(seconds cuda_gpu_idle_seconds_total)"
	assert_equal "$(seconds cuda_gpu_idle_seconds_total 'cause="sleep"')" 0.000000000
}

@test "metrics --idle (processes that come and go) forgets them" {
	local before after
	exporter
	resident() { awk '/^VmRSS/ { print $2 }' "/proc/$exporter_PID/status"; }
	traced sh -c 'for i in 1 2 3 4 5; do "$0" 20 >/dev/null; done' "$WORKLOADS/idle/sleeps"
	wait_for 20 observed 0.6
	before=$(resident)
	traced sh -c 'for i in $(seq 60); do "$0" 5 >/dev/null; done' "$WORKLOADS/idle/sleeps"
	wait_for 20 observed 2.5
	after=$(resident)
	# 64 KiB of each of them for its launches alone, if they stayed.
	is "$after - $before < 2000"
}

@test "metrics (without --idle) has none of it" {
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
	traced "$WORKLOADS/idle/sleeps" 10 >out
	scrape
	refute grep -q 'idle' scrape
}

# all_explained: nothing is added any more.
all_explained() {
	local before
	scrape
	before=$(seconds cuda_gpu_observed_seconds_total)
	sleep 3
	scrape
	[ "$before" = "$(seconds cuda_gpu_observed_seconds_total)" ] && is "$before > 0"
}

# share_of NAME STEPS [EXPORTER'S ARGS...]: the idle share of the observed time.
share_of() {
	exporter "${@:3}"
	traced "$WORKLOADS/idle/$1" "$2" >out
	wait_for 30 all_explained
	share=$(awk "BEGIN { print $(seconds cuda_gpu_idle_seconds_total) / $(seconds cuda_gpu_observed_seconds_total) }")
	kill -TERM "$exporter_PID"
	finished "$exporter_PID"
}

@test "metrics --idle --sample (sleeps, waits for the GPU) has the idle share and the cause of all the time" {
	local all own
	while read -r name steps cause; do
		share_of "$name" "$steps"
		all=$share
		share_of "$name" "$steps" --sample 20ms/100ms
		is "$share > $all - 0.08 && $share < $all + 0.08"
		# A fifth of the time is in windows.
		is "$(seconds cuda_gpu_observed_seconds_total) < 0.5 * $(expect_key out idle_ns) / 1e9 / $all"
		own="$(seconds cuda_gpu_idle_seconds_total "cause=\"$cause\"") + $(seconds cuda_gpu_idle_seconds_total 'cause="preempted"')"
		# Nor is the time for which the agent holds launches, to switch records, in it.
		is "$own > 0.97 * $(seconds cuda_gpu_idle_seconds_total)"
		grep -qx 'cuda_trace_idle_reduced 0' scrape
	done <<-'END'
		sleeps 600 sleep
		each-sync 12000 cuda_call
	END
}

counted_copies() {
	scrape
	is "$(seconds cuda_memcpy_copies_total) == $(expect_key out memcpys)"
}

@test "metrics --idle --sample (copies) counts these exactly, and calls them no estimates" {
	exporter --sample 20ms/100ms
	traced "$WORKLOADS/copies" >out
	wait_for 15 counted_copies
	refute grep -q '^cuda_memcpy_copies_total{.*estimated' scrape
}

@test "metrics --idle --max-overhead (scheduler events cost more) explains nothing from then on, and says so" {
	exporter --max-overhead 0.01%
	traced "$WORKLOADS/idle/each-sync" 12000 >out
	wait_for 20 grep -q 'metrics: --idle: scheduler events cost .*more than --max-overhead 0.01%: idle time from now on is not explained' exporter.err
	scrape
	grep -qx 'cuda_trace_idle_reduced 1' scrape
}
