#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A tool that watches one process, or a program that it starts, leaves the agents of all others dormant, and
# misses nothing.
# shellcheck disable=SC2154 # other_PID and the like are made by start

load ../lib/helpers

# The agent's file has another name: a tool that watches the whole system (cuda-trace -a, another test run)
# looks for libcupti-usdt.so and would activate it. For the driver source it does not count as an agent.
setup() {
	requires bpf sim jq readelf
	uses_links_by_process || skip "needs links by process"
	cd "$BATS_TEST_TMPDIR" || return 1
	cp "$AGENT" agent-of-its-own.so
	export AGENT=$PWD/agent-of-its-own.so CUDA_TRACE_AGENT=$PWD/agent-of-its-own.so
}

# Which kernels have them is not known by their version: the tool says it.
uses_links_by_process() {
	! ct stat -v -d 0.1 -p $$ 2>&1 | grep -q 'injection libraries of other processes are activated'
}

# other: a program with the agent that launches kernels and that the tool does not watch.
start_other() {
	: >other.log
	SIMCUDA_LOG=$PWD/other.log CUDA_INJECTION64_PATH=$AGENT \
		start other "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	wait_for 30 grep -q . other.log
	wait_for 30 maps_agent "$other_PID"
}

maps_agent() {
	grep -q 'agent-of-its-own\.so$' "/proc/$1/maps"
}

# semaphores_up PID: the probes of the agent that are attached in that process.
semaphores_up() {
	local base address size name semaphore words
	base=$(awk '/agent-of-its-own\.so$/ {split($1, a, "-"); print a[1]; exit}' "/proc/$1/maps")
	read -r address size < <(readelf -SW "$AGENT" |
		awk '{for (i = 1; i <= NF; i++) if ($i == ".probes") print $(i + 2), $(i + 4)}')
	mapfile -t words < <(dd if="/proc/$1/mem" bs=2 skip=$(((0x$base + 0x$address) / 2)) \
		count=$((0x$size / 2)) status=none | od -An -v -tu2 -w2)
	readelf -nW "$AGENT" | sed -n 's/^ *Name: //p; s/.*Semaphore: //p' | paste - - |
		while read -r name semaphore; do
			[ "${words[$(((semaphore - 0x$address) / 2))]}" -eq 0 ] || echo "$name"
		done
}

listens_to() {
	semaphores_up "$1" | grep -qx "$2"
}

# No CUPTI call of the other process's agent.
slept() {
	! grep -m 3 -E " (subscriptions=[1-9]|callbacks=[1-9]|kinds=[0-9])" other.log
}

# sum OUT KEY: over all expect lines.
sum() {
	grep '^expect ' "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | paste -sd+ | bc
}

# all_counted OUT JSON: what the programs did is what the tool saw.
all_counted() {
	local key
	for key in launches kernels; do
		assert_equal "$key $(json "$2" "\"\(.totals.$key), \(.lost.total) lost\"")" "$key $(sum "$1" $key), 0 lost"
	done
	json "$2" '.lost.total == 0 and .lost.killed == 0 and .totals.unfinished == 0'
}

@test "stat -p (another program runs) leaves that one's agent asleep" {
	start_other
	start meant "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 60 -p 2000
	wait_for 30 maps_agent "$meant_PID"
	start tool "$CUDA_TRACE" stat --source cupti -p "$meant_PID" -d 4 --json -o out.json
	wait_for 30 listens_to "$meant_PID" kernel_batch
	# Those of its start and of other CUPTI clients switch nothing on.
	assert_equal "$(semaphores_up "$other_PID" | xargs)" "start cupti_wanted cupti_claim cupti_release"
	finished "$tool_PID"
	json out.json "[.processes[].pid] == [$meant_PID] and .totals.launches > 100 and .totals.kernels > 100"
	slept
	assert_equal "$(semaphores_up "$other_PID")" ""
}

@test "stat -- PROGRAM (another program runs) leaves that one's agent asleep" {
	start_other
	ct stat --source cupti --json -o out.json -- "$SIM" "$WORKLOADS/launch-storm" -s 1 -p 500 -t 4 >out
	all_counted out out.json
	slept
}

@test "stat -- PROGRAM (a shell that starts three programs in turn and three at once) counts all of each" {
	cat >many <<-'EOF'
		for _ in 1 2 3; do "$WORKLOADS/saxpy"; done
		for _ in 1 2 3; do "$WORKLOADS/launch-storm" -n 1000 & done
		wait
	EOF
	start_other
	ct stat --source cupti --json -o out.json -- "$SIM" bash many >out 2>err
	assert_equal "$(grep -c '^expect ' out)" 6
	all_counted out out.json
	run ! grep . err
	slept
}

@test "stat -p (a shell that starts programs later) counts all of each" {
	cat >later <<-'EOF'
		export CUDA_INJECTION64_PATH=$AGENT
		read -r _ <go
		for _ in 1 2 3; do "$WORKLOADS/saxpy"; done
		for _ in 1 2 3; do "$WORKLOADS/launch-storm" -n 1000 & done
		wait
	EOF
	mkfifo go
	start_other
	# A machine under load may be slower than the 50 ms that a process waits for anybody.
	# Without priming the answers are all that it waits for.
	start shell "$SIM" env CUPTI_USDT_AWAIT_MS=1000 bash later
	start tool "$CUDA_TRACE" stat --source cupti -v -p "$shell_PID" --json -o out.json
	wait_for 30 grep -q watching tool.err
	wait_for 30 listens_to "$other_PID" start
	echo >go
	finished "$tool_PID"
	assert_equal "$(grep -c '^expect ' shell.out)" 6
	all_counted shell.out out.json
	run ! grep missing tool.err
	slept
}

start_two() {
	start one "$CUDA_TRACE" stat --source cupti -v -p "$shell_PID" --json -o one.json
	start two "$CUDA_TRACE" stat --source cupti -v -e kernels,graphs,memory,api -p "$shell_PID" --json -o two.json
	wait_for 30 grep -q watching one.err
	wait_for 30 grep -q watching two.err
}

start_shell() { # TIMES PROGRAM...: runs it so often, one after the other, after a line in the FIFO `go`
	cat >later <<-'EOF'
		export CUDA_INJECTION64_PATH=$AGENT
		read -r _ <go
		for _ in $(seq "$1"); do "${@:2}"; done
		true
	EOF
	mkfifo go
	# Without priming the answers are all that it waits for.
	start shell "$SIM" env CUPTI_USDT_AWAIT_MS=1000 bash later "$@"
}

@test "stat -p (two tools mean programs that start later) count all, or say of which they do not" {
	local tool
	start_shell 3 "$WORKLOADS/saxpy"
	start_two
	echo >go
	finished "$one_PID"
	finished "$two_PID"
	assert_equal "$(grep -c '^expect ' shell.out)" 3
	for tool in one two; do
		grep -Eq '(is|are) missing|ended before' $tool.err || all_counted shell.out $tool.json || { cat $tool.err; json $tool.json .; return 1; }
	done
	# One answer ended each wait.
	[ "$(cat one.err two.err | grep -c 'is missing')" -le 3 ]
}

@test "stat -p (two tools, one of them slow) does not hold the program up, and warns in the slow one" {
	start_shell 1 "$WORKLOADS/launch-storm" -s 3 -p 1000
	start_two
	kill -STOP "$two_PID"
	echo >go
	# By then, the other tool has ended the program's wait.
	ready shell
	sleep 0.7
	kill -CONT "$two_PID"
	finished "$one_PID"
	finished "$two_PID"
	all_counted shell.out one.json
	run ! grep missing one.err
	grep -q 'was attached .* ms after another tool had ended its wait: launches in between are missing' two.err
	[ "$(json two.json .totals.launches)" -lt "$(sum shell.out launches)" ]
}

@test "stat -- PROGRAM (threads that come and go) counts the launches of each" {
	ct stat --source cupti --json -o out.json -- "$SIM" "$WORKLOADS/threads" 50 8 5 >out
	all_counted out out.json
}

# Of a link by process the kernel forgets such a one when anybody comes or goes: so does the tool here.
@test "stat -- PROGRAM (its first thread ends, others go on) counts all of it" {
	cat >first.c <<-'EOF'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		int storm(int argc, char **argv);
		static char **arguments;
		static void *run(void *nothing) { usleep(300000); exit(storm(7, arguments)); }
		int main(int argc, char **argv)
		{
			pthread_t other;

			arguments = argv;
			pthread_create(&other, NULL, run, NULL);
			pthread_exit(NULL);
		}
	EOF
	"${CC:-cc}" -I"$TOP" -D_GNU_SOURCE -Dmain=storm -c -o storm.o "$TOP/tests/workloads/launch-storm.c"
	"${CC:-cc}" -o first first.c storm.o "$B/workloads/libprogram.a" -L"$B/simcuda" -lcuda -lpthread
	ct stat --source cupti -v --json -o out.json -- "$SIM" ./first -s 2 -p 500 -t 2 >out 2>err
	grep -q 'attached in every process that maps it: the first thread of a process has ended' err
	all_counted out out.json
}

@test "stat -- PROGRAM (another thread than the first execs) counts what comes of it" {
	cat >exec.c <<-'EOF'
		#include <pthread.h>
		#include <unistd.h>
		static void *run(void *argv) { execv(((char **)argv)[1], (char **)argv + 1); _exit(1); }
		int main(int argc, char **argv)
		{
			pthread_t other;

			pthread_create(&other, NULL, run, argv);
			pause();
		}
	EOF
	"${CC:-cc}" -o execs exec.c -lpthread
	for _ in 1 2 3; do
		ct stat --source cupti -v --json -o out.json -- "$SIM" ./execs "$WORKLOADS/saxpy" >out 2>err
		all_counted out out.json
		run ! grep 'in every process' err
	done
}

@test "stat -- PROGRAM (one that the tool held until it was ready) is not said to be heard late" {
	CUPTI_USDT_AWAIT_MS=0 ct stat --source cupti -v --json -o out.json -- "$SIM" "$WORKLOADS/saxpy" >out 2>err
	all_counted out out.json
	run ! grep 'after its start' err
}

@test "stat -- PROGRAM (100 programs at once) counts each, also those beyond the links" {
	cat >many <<-'EOF'
		mkfifo gate
		for _ in $(seq 100); do PROGRAM_GATE=gate "$WORKLOADS/saxpy" --size 1000 & done
		# Those that come later find it open.
		for _ in $(seq 300); do ! grep -q 'too many processes' err || break; sleep 0.1; done
		sleep 1
		exec 3>gate
		wait
	EOF
	ct stat --source cupti -v --json -o out.json -- "$SIM" bash many >out 2>err
	assert_equal "$(grep -c '^expect ' out)" 100
	all_counted out out.json
	grep -q 'attached in every process that maps it: too many processes' err
}

@test "stat -- PROGRAM (a thousand short processes without CUDA) hears of those with CUDA alone" {
	# shellcheck disable=SC2016
	ct stat --source cupti -v --json -o out.json -- "$SIM" bash -c \
		'for i in $(seq 1000); do /bin/true; done; "$WORKLOADS/saxpy"; "$WORKLOADS/saxpy"; true' >out 2>err
	all_counted out out.json
	# Each once, by what it says at its start; a look at all processes may find it sooner.
	assert_equal "$(grep -cE 'process [0-9]+ was attached .*(after its start|before it reported its start)' err)" 2
}

@test "stat -p and stat -a (at once, either ends first) both count all" {
	local first
	for first in one all; do
		rm -f out ./*.json all.err
		start all "$CUDA_TRACE" stat --source cupti -v -a --json -o all.json
		wait_for 30 grep -qs watching all.err
		start one "$CUDA_TRACE" stat --source cupti --json -o one.json -- \
			"$SIM" "$WORKLOADS/launch-storm" -s "$([ $first = all ] && echo 6 || echo 1)" -p 500
		ready one
		if [ $first = all ]; then
			sleep 1
			kill -0 "$one_PID"
			kill -INT "$all_PID"
			finished "$all_PID"
			kill -0 "$one_PID"
		fi
		finished "$one_PID"
		all_counted one.out one.json
		if [ $first = one ]; then
			kill -INT "$all_PID"
			finished "$all_PID"
		fi
		json all.json '.totals.launches > 100 and .lost.total == 0'
	done
}

@test "stat -p (a process that is meant, beside stat -a) misses nothing of its children" {
	start all "$CUDA_TRACE" stat --source cupti -v -a -d 8 --json -o all.json
	wait_for 30 grep -q watching all.err
	# shellcheck disable=SC2016
	ct stat --source cupti --json -o out.json -- "$SIM" bash -c '"$WORKLOADS/saxpy"; "$WORKLOADS/saxpy"; true' >out
	all_counted out out.json
}

# run_ms [VARIABLE=VALUE...]: ms that a program took, from its start to its end.
run_ms() {
	local before
	before=$(date +%s%N)
	sim env CUDA_INJECTION64_PATH="$AGENT" "$@" "$WORKLOADS/saxpy" --size 1000 >/dev/null
	echo $((($(date +%s%N) - before) / 1000000))
}

# below MS [VARIABLE=VALUE...]: it takes less than that. A machine that
# has much else to do makes some of ten runs longer; a wait would make all of them so.
below() {
	local limit=$1 ms
	shift
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		ms=$(run_ms "$@")
		[ "$ms" -ge "$limit" ] || return 0
	done
	fail "$ms ms"
}

@test "another program that starts meanwhile waits 50 ms at most, and not once the tool is gone" {
	start other sleep 60
	start tool "$CUDA_TRACE" stat --source cupti -v -p "$other_PID"
	wait_for 30 grep -q watching tool.err
	[ "$(run_ms CUPTI_USDT_AWAIT_MS=900)" -ge 900 ]
	below 500 CUPTI_USDT_AWAIT_MS=0
	[ "$(run_ms)" -ge 50 ]
	below 500
	kill -KILL "$tool_PID"
	finished "$tool_PID"
	below 800 CUPTI_USDT_AWAIT_MS=900
}

@test "stat -p (its child comes while the tool is killed) goes on within its wait" {
	mkfifo go
	# shellcheck disable=SC2016
	start shell "$SIM" env CUPTI_USDT_AWAIT_MS=5000 CUPTI_USDT_START_MS=5000 CUDA_INJECTION64_PATH="$AGENT" \
		bash -c 'read -r _ <go; "$WORKLOADS/saxpy"; true'
	start tool "$CUDA_TRACE" stat --source cupti -v -p "$shell_PID"
	wait_for 30 grep -q watching tool.err
	kill -STOP "$tool_PID"
	echo >go
	child_maps_agent() { maps_agent "$(pgrep -P "$shell_PID" -x saxpy)" 2>/dev/null; }
	wait_for 30 child_maps_agent
	sleep 0.5
	run ! grep '^expect ' shell.out
	kill -KILL "$tool_PID"
	# Its wait would last for some four seconds more.
	wait_for 2 grep -q '^expect ' shell.out
}

@test "trace and record (-- PROGRAM that is a shell) show every launch of its children" {
	# shellcheck disable=SC2016
	ct trace --source cupti -o trace.json --json -- "$SIM" bash -c '"$WORKLOADS/saxpy"; "$WORKLOADS/saxpy"; true' >out
	assert_equal "$(jq -r 'select(.event == "kernel") | .event' trace.json | wc -l)" "$(sum out kernels)"
	# shellcheck disable=SC2016
	ct record -o run.sqlite -- "$SIM" bash -c '"$WORKLOADS/saxpy"; "$WORKLOADS/saxpy"; true' >out
	assert_equal "$(sqlite3 run.sqlite 'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL')" "$(sum out kernels)"
}

@test "stat --sample -p (another program runs) samples the one, and leaves the other asleep" {
	start_other
	start meant "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 60 -p 500
	wait_for 30 maps_agent "$meant_PID"
	ct stat --source cupti --sample 100ms/1s -p "$meant_PID" -d 3 --json -o out.json
	json out.json '.totals.launches > 100 and .totals.kernels > 10'
	slept
}

# breakpoints PID: bytes of libcuda's text at cuLaunchKernel's entry
entry_of() {
	local library base address
	library=$(awk '/libcuda\.so/ {print $6; exit}' "/proc/$1/maps")
	base=$(awk '/libcuda\.so/ {split($1, a, "-"); print a[1]; exit}' "/proc/$1/maps")
	address=$(readelf --dyn-syms -W "$library" | awk '$8 ~ /^cuLaunchKernel(@|$)/ {print $2; exit}')
	dd if="/proc/$1/mem" bs=1 skip=$((0x$base + 0x$address)) count=8 status=none | od -An -tx1
}

@test "stat -p (neither program has the agent) puts no probe into the other one's libcuda" {
	local before other
	start other "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	start meant "$SIM" "$WORKLOADS/launch-storm" -s 60 -p 2000
	ready other
	ready meant
	before=$(entry_of "$other_PID")
	other=$other_PID
	start tool "$CUDA_TRACE" stat --no-attach -p "$meant_PID" -d 4 --json -o out.json
	differs() { [ "$(entry_of "$meant_PID")" != "$before" ]; }
	wait_for 30 differs
	sleep 0.5
	assert_equal "$(entry_of "$other")" "$before"
	differs
	finished "$tool_PID"
	json out.json '.totals.launches > 100 and .source == "driver"'
}

@test "stat -- PROGRAM (a kernel without links by process) counts all the same" {
	export CUDA_TRACE_LINKS=single
	# shellcheck disable=SC2016
	ct stat --source cupti -v --json -o out.json -- "$SIM" bash -c '"$WORKLOADS/saxpy"; "$WORKLOADS/saxpy"; true' >out 2>err
	all_counted out out.json
	grep -q 'injection libraries of other processes are activated as well: this kernel has no links by process' err
}
