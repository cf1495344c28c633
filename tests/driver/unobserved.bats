#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Where a limit or a failure kept the tool from observing a process, every output says so, and none says that nothing
# was lost.

load ../lib/helpers

setup() {
	requires bpf sim python3
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" = 6.6 ] || skip "needs Linux 6.6"
	cd "$BATS_TEST_TMPDIR" || return 1
	cp -a "$B/simcuda" theirs
}

# unreadable: the loader can use this libcuda, and the tool cannot read its symbols.
unreadable() {
	python3 "$TOP/tests/foreign/sparse_elf.py" theirs/libcuda.so.1 dynsym 100e9 "$B/simcuda/libcuda.so.1"
}


@test "stat (a libcuda that cannot be read, no library) says that the process was not observed" {
	unreadable
	ct stat --no-attach --json -o out.json -- env -i LD_LIBRARY_PATH="$PWD/theirs" "$WORKLOADS/saxpy" 2>err
	json out.json '.totals.launches == 0 and .lost.unobserved == 1 and .lost.total == 1 and
		([.missed[] | [.process, .reason]] == [["saxpy", "not_probed"]])'
	grep -qE '^cuda-trace: process [0-9]+ \(saxpy\): uses libcuda without a working injection library' err
	ct stat --no-attach -o out.txt -- env -i LD_LIBRARY_PATH="$PWD/theirs" "$WORKLOADS/saxpy"
	grep -q '^cuda-trace: lost 1 (unobserved): ' out.txt
	run ! grep -q '^nothing was lost' out.txt
}

@test "stat --source driver (a libcuda that cannot be read) says that the process was not observed" {
	unreadable
	ct stat --source driver --json -o out.json -- env LD_LIBRARY_PATH="$PWD/theirs" "$WORKLOADS/saxpy"
	json out.json '.totals.launches == 0 and .lost.unobserved == 1 and .lost.total == 1'
}

@test "trace, record, report (a libcuda that cannot be read, no library) say that the process was not observed" {
	unreadable
	ct trace --no-attach --json -o out.json -- env -i LD_LIBRARY_PATH="$PWD/theirs" "$WORKLOADS/saxpy" 2>err
	json out.json 'select(.event == "lost") | .lost.unobserved == 1 and .lost.total == 1'
	ct record --no-attach -o r.sqlite -- env -i LD_LIBRARY_PATH="$PWD/theirs" "$WORKLOADS/saxpy" 2>err
	grep -qE '^cuda-trace: lost 1 \(unobserved\): ' err
	ct report r.sqlite >report
	grep -qE '^cuda-trace: lost 1 \(unobserved\): ' report
	run ! grep -q '^nothing was lost' report
}

@test "stat (a libcuda that cannot be read, the library works) sees all launches, and misses no process" {
	unreadable
	ct stat --json -o out.json -- "$SIM" env LD_LIBRARY_PATH="$PWD/theirs:$B/simcuda" "$WORKLOADS/saxpy" >out
	json out.json '.totals.launches == 10 and .lost.total == 0 and .missed == []'
}

@test "stat (a process is observed, another is not) does not say how long the GPU was idle, and advises nothing" {
	unreadable
	# shellcheck disable=SC2016 # expanded inside
	local both=("$SIM" sh -c '"$1" -n 200 -p 1000 && exec env -i LD_LIBRARY_PATH="$0" "$1" -n 10' "$PWD/theirs" "$WORKLOADS/launch-storm")
	ct stat --no-attach --json -o out.json -- "${both[@]}" >out
	json out.json '.totals.kernels == 200 and .lost.unobserved == 1 and .time.gpu_busy_ns > 0 and .time.idle_is_known == false and
		.advice == [] and .idle == null'
	ct stat --no-attach -o out.txt -- "${both[@]}" >out
	grep -q '^ GPU busy ' out.txt
	grep -qx ' the rest is not known: work was not seen (lost, see below)' out.txt
	run ! grep -q '^ GPU idle ' out.txt
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -n 200 -p 1000 >out
	json out.json '.time.idle_is_known'
}

@test "stat (the tool comes late to where libcuda is loaded) sees the rest, and says that calls are missing" {
	mkfifo gate
	# shellcheck disable=SC2016 # expanded inside
	start tool "$CUDA_TRACE" stat --no-attach --json -o out.json -- sh -c 'echo waits; read -r go <gate
		exec env -i LD_LIBRARY_PATH="$0" "$1" -s 6 -p 1000' "$PWD/theirs" "$WORKLOADS/launch-storm"
	wait_for 20 grep -q waits tool.out
	kill -STOP "$tool_PID"
	echo go >gate
	# Its thread waits a second for the tool, and then goes on through cuInit().
	wait_for 20 grep -qx ready tool.out
	kill -CONT "$tool_PID"
	finished "$tool_PID" 30
	json out.json '.totals.launches > 0 and .lost.observed_late == 1 and .lost.total == 1 and
		.processes[0].observed_since_ns != null'
	grep -qE '^cuda-trace: process [0-9]+ \(launch-storm\): observed late' tool.err
}

@test "stat (a libcuda that cannot be read, the library is loaded later) says that calls are missing" {
	unreadable
	ct stat --json -o out.json -- env -i LD_LIBRARY_PATH="$PWD/theirs" "$WORKLOADS/launch-storm" -s 6 -p 1000
	json out.json '.lost.total == 1 and .lost.observed_late + .lost.unobserved == 1'
	# Whatever could be seen of it: nobody says that this is all.
	json out.json '.totals.launches == 0 or .processes[0].observed_since_ns != null'
}

# unobserved ARGS...: an agent that finds no libcupti, and a libcuda that cannot be read
unobserved() {
	env -i CUDA_TRACE_LIBCUPTI=/nonexistent.so CUDA_INJECTION64_PATH="$CUDA_TRACE_AGENT" LD_LIBRARY_PATH="$PWD/theirs" \
		"$WORKLOADS/launch-storm" "$@" >storm.out
}

@test "top (a process that nothing can observe) counts and names it, as stat does" {
	unreadable
	start top "$CUDA_TRACE" top --json -d 500ms
	wait_for 20 test -s top.out
	unobserved -s 3 -p 1000
	wait_for 10 jq -es 'any(.lost == 1)' top.out
	kill -INT "$top_PID"
	finished "$top_PID" 20
	json <(tail -n 1 top.out) '.lost == 1 and .lost_by_reason.unobserved == 1 and .lost_by_reason.observed_late == 0 and
		([.lost_by_reason[]] | add) == 1'
	grep -qE '^cuda-trace: process [0-9]+ \(launch-storm\): uses libcuda without a working injection library' top.err
	grep -q '^cuda-trace: lost 1 (unobserved): ' top.err
	# On the screen, too, and not as a lost record.
	start page "$CUDA_TRACE" top -b -d 500ms
	wait_for 20 grep -q '^cuda-trace top' page.out
	unobserved -s 3 -p 1000
	wait_for 10 grep -qx '1 process is not observed: figures are too low (unobserved)' page.out
	run ! grep -q 'records were lost' page.out
}

@test "metrics (a process that nothing can observe) counts and names it, and has each reason that stat's total has" {
	unreadable
	start metrics "$CUDA_TRACE" metrics --textfile metrics.prom --interval 500ms
	wait_for 20 test -s metrics.prom
	grep -qx 'cuda_trace_lost_records_total{reason="unobserved"} 0' metrics.prom
	unobserved -s 3 -p 1000
	wait_for 10 grep -qx 'cuda_trace_lost_records_total{reason="unobserved"} 1' metrics.prom
	kill -INT "$metrics_PID"
	finished "$metrics_PID" 20
	assert_equal "$(awk '/^cuda_trace_lost_records_total/ { n += $NF } END { print n }' metrics.prom)" 1
	grep -qE '^cuda-trace: process [0-9]+ \(launch-storm\): uses libcuda' metrics.err
	grep -q '^cuda-trace: lost 1 (unobserved): ' metrics.err
	# Every reason in the total of stat is one of metrics; the others have metrics of their own.
	ct stat --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out
	assert_equal "$(comm -23 <(jq -r '.lost | keys[]' out.json | sort) \
		<(sed -n 's/^cuda_trace_lost_records_total{reason="\(.*\)"}.*/\1/p' metrics.prom | sort) | xargs)" \
		"driver_unknown drivers_left_out files_left_out killed names processes_left_out ring_full_names stacks total yielded"
}

@test "what is observed (hundreds of processes that end, pids used again) counts all, and keeps few" {
	local sources
	readarray -t sources < <(tool_sources observations array_grow clock text agent_state process_maps process_stat)
	cc -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -D_GNU_SOURCE -I"$TOP" -I"$B" -o unit \
		"$TOP/tests/driver/unit_observations.c" "${sources[@]}"
	run -0 ./unit
	assert_output "unobserved 600, late 600"
}

# waits_in_agent PID: a process that it started has loaded the injection library
waits_in_agent() {
	local child; child=$(pgrep -P "$1") && grep -qs libcupti-usdt "/proc/$child/maps"
}

@test "stat -- PROGRAM (the tool comes too late to a libcuda, but not to the agent) misses nothing" {
	mkfifo go
	start tool "$CUDA_TRACE" stat --json -o out.json -- "$SIM" bash -c \
		'read -r _ <go; export CUPTI_USDT_AWAIT_MS=20000; "$0" 3; exit' "$WORKLOADS/copies"
	wait_for 20 pgrep -P "$tool_PID" bash
	local shell; shell=$(pgrep -P "$tool_PID" bash)
	kill -STOP "$tool_PID"
	echo >go
	wait_for 20 waits_in_agent "$shell"
	kill -CONT "$tool_PID"
	finished "$tool_PID" 30
	json out.json '.lost.total == 0 and .totals.memcpys == 36'
}
