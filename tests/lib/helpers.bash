# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Loaded by every tests/*/*.bats (`load ../lib/helpers`). What is tested is an installed tree: the one that
# `make check` lays down in $B/root, or, with CUDA_TRACE and AGENT set, the packages of a system.

# shellcheck source-path=SCRIPTDIR
. "${BASH_SOURCE[0]%/*}/traces.bash"
bats_require_minimum_version 1.5.0
# Each test loads them again. Their own load.bash starts a program for each of their files: 40 ms.
load_quickly() {
	local source
	for source in "${BATS_LIB_PATH%%:*}/$1"/src/*.bash; do
		# shellcheck disable=SC1090
		[ ! -e "$source" ] || . "$source"
	done
	[ -e "$source" ] || bats_load_library "$1"
}
load_quickly bats-support
load_quickly bats-assert

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
B=${B:-$TOP/build}
[[ $B == /* ]] || B=$TOP/$B
TRIPLET=${TRIPLET:-$(cc -dumpmachine | sed 's/-pc-\|-unknown-/-/')}
ROOT=${ROOT:-$B/root}

# The variable that a user sets to "off" is called CUDA_TRACE too: programs under test must not see
# ours, so that it travels to bats' own processes under another name.
CUDA_TRACE=${CUDA_TRACE_UNDER_TEST:-${CUDA_TRACE:-$ROOT/usr/bin/cuda-trace}}
export -n CUDA_TRACE
AGENT=${AGENT:-$ROOT/usr/lib/$TRIPLET/cuda-trace/libcupti-usdt.so}
SIM=${SIM:-$TOP/tests/sim}
WORKLOADS=${WORKLOADS:-$B/workloads}
export B TRIPLET AGENT SIM WORKLOADS CUDA_TRACE_AGENT=$AGENT CUDA_TRACE_UNDER_TEST=$CUDA_TRACE

# Nobody's opt-in, and no other injection, may leak into a test.
unset CUDA_INJECTION64_PATH CUDA_TRACE_LIBCUPTI
# Who has waited for something asks metrics what came of it, not what was a moment before.
export CUDA_TRACE_PAGES=0
PATH=$PATH:/usr/sbin:/sbin

# jq 1.6 takes 37 ms to begin, gojq 3. It always sorts keys: what depends on their order needs jq -S.
jq() {
	local word words=()
	for word; do
		case $word in -S) continue ;; -[a-z]S | -[a-z][a-z]S) word=${word/S/} ;; esac
		words+=("$word")
	done
	gojq "${words[@]}"
}
command -v gojq >/dev/null || unset -f jq

# PROMPT: before a program that mostly sleeps, and whose own times are compared with what the tool says of it. It has a
# CPU as soon as it wants one, whatever else this machine does. Other tests would starve beside one that computes.
: "${REALTIME=$(! chrt --rr 1 true 2>/dev/null || echo chrt --rr 1)}"
export REALTIME
read -ra PROMPT <<<"$REALTIME"

# prompt_idle NAME: sets PROMPTLY to that, if this program of tests/workloads/idle mostly sleeps.
# shellcheck disable=SC2034 # for the tests
prompt_idle() {
	case $1 in
	sleeps | mutex | each-sync | pageable | allocs | server | healthy-*) PROMPTLY=("${PROMPT[@]}") ;;
	*) PROMPTLY=() ;;
	esac
}

# can_bpf: may maps be listed? Found out once for the tests of a file.
can_bpf() {
	[ ! -e "$BATS_FILE_TMPDIR/can-bpf" ] || return 0
	bpftool map list >/dev/null 2>&1 && : >"$BATS_FILE_TMPDIR/can-bpf"
}

# requires root|bpf|gpu|sim|systemd|PROGRAM...: skips the test, with the reason.
requires() {
	local need
	for need; do
		case $need in
		root) [ "$(id -u)" = 0 ] || skip "needs root" ;;
		bpf)
			[ "$(id -u)" = 0 ] || skip "needs root for eBPF"
			[ -r /sys/kernel/btf/vmlinux ] || skip "needs a kernel with BTF"
			can_bpf || skip "eBPF is not allowed here"
			;;
		gpu)
			[ -c /dev/nvidia0 ] || skip "needs an NVIDIA GPU"
			ldconfig -p | grep -q 'libcuda\.so\.1 ' || skip "needs NVIDIA's libcuda.so.1"
			;;
		sim) [ -x "$SIM" ] || skip "needs the simulated driver ($SIM)" ;;
		systemd) [ -d /run/systemd/system ] || skip "needs a running systemd" ;;
		*) command -v "$need" >/dev/null || skip "needs $need" ;;
		esac
	done
}

# ct ARGS...: the tool under test, never longer than $LIMIT seconds (60).
ct() {
	json_kept timeout -k 5 "${LIMIT:-60}" "$CUDA_TRACE" "$@"
}

# sim CMD...: CMD on the simulated driver, likewise. Through the tool: ct stat -- "$SIM" CMD...
sim() {
	json_kept timeout -k 5 "${LIMIT:-60}" "$SIM" "$@"
}

# json_kept CMD...: runs it, and keeps a copy of what it wrote where it is cuda-trace with --json, for teardown_file.
json_kept() {
	local word last='' output='' place kept status=0 json='' command=''
	for word; do
		[ "$word" != -- ] || break
		case $word in "$CUDA_TRACE") command=$word ;; --json | -j) json=${command:+$word} ;; esac
		[ "$last" != -o ] && [ "$last" != --output ] || output=$word
		last=$word
	done
	if [ -z "$json" ] || [ -z "${BATS_FILE_TMPDIR-}" ]; then
		"$@"
		return
	fi
	[ -d "$BATS_FILE_TMPDIR/json" ] || mkdir -p "$BATS_FILE_TMPDIR/json"
	kept=$BATS_FILE_TMPDIR/json/$BASHPID.$SRANDOM
	: >"$kept"
	printf '%s\0' "$@" >"$kept.args"
	if [ -n "$output" ]; then
		"$@" || status=$?
		[ ! -f "$output" ] || cp "$output" "$kept"
	elif [ -p /dev/stdout ]; then
		"$@" | tee "$kept"
		status=${PIPESTATUS[0]}
	else
		{ place=$(readlink /proc/self/fd/9); } 9>&1
		"$@" || status=$?
		[ ! -f "$place" ] || cp "$place" "$kept"
	fi
	echo "$status" >"$kept.status"
	return "$status"
}

# expect_key FILE KEY: the number behind KEY= in the `expect` line that a workload printed last.
expect_key() {
	local lines line last=''
	mapfile -t lines <"$1"
	for line in "${lines[@]}"; do
		[[ $line != "expect "* ]] || last=$line
	done
	[[ "$last " =~ " $2="([^ ]+)" " ]] || { fail "no $2 in the expect line of $1: $(tail -n 1 "$1")"; return 1; }
	echo "${BASH_REMATCH[1]}"
}

# json FILE FILTER: jq's raw answer.
json() {
	# Of an empty file jq 1.6 says that all is well.
	{ [[ -s $1 || -p $1 ]] && jq -er "$2" "$1"; } || fail "$1: jq '$2' says nothing true of: $(head -c 4000 "$1")"
}

# totals_of FILE: sets TOTALS to the numbers below .totals there.
declare -gA TOTALS=()
totals_of() {
	local key value
	TOTALS=()
	while read -r key value; do
		# shellcheck disable=SC2034 # for the tests
		TOTALS[$key]=$value
	done < <(json "$1" '.totals | to_entries[] | "\(.key) \(.value)"')
}

# kernel_is VERSION: the running kernel is at least that one.
kernel_is() {
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# start NAME CMD...: in the background, in a process group of its own; $NAME_PID and
# $BATS_TEST_TMPDIR/NAME.{out,err}. Ended at the latest by teardown, with all of its children.
start() {
	local name=$1; shift
	# Else who waits for a word of it may find the one before it has said.
	rm -f "$BATS_TEST_TMPDIR/$name.out" "$BATS_TEST_TMPDIR/$name.err"
	setsid "$@" >"$BATS_TEST_TMPDIR/$name.out" 2>"$BATS_TEST_TMPDIR/$name.err" 3>&- </dev/null &
	printf -v "${name}_PID" %s $!
	echo $! >>"$BATS_TEST_TMPDIR/started"
}

# ready NAME: waits until a started launch-storm is about to launch.
ready() {
	wait_for 30 grep -qx ready "$BATS_TEST_TMPDIR/$1.out"
}

# stop_started: ends what `start` started. A test file with a teardown of its own calls it there.
stop_started() {
	local pid
	[ -e "$BATS_TEST_TMPDIR/started" ] || return 0
	while read -r pid; do
		kill -TERM -- "-$pid" 2>/dev/null || continue
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			kill -0 -- "-$pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$pid" 2>/dev/null || true
	done <"$BATS_TEST_TMPDIR/started"
}

teardown() {
	stop_started
}

# Each output of --json that ct and sim saw must be as docs/reference/schema/ says.
teardown_file() {
	[ -d "$BATS_FILE_TMPDIR/json" ] && python3 -c 'import jsonschema' 2>/dev/null || return 0
	"$TOP/tests/lib/schemas" "$BATS_FILE_TMPDIR/json"
}

# wait_for SECONDS CMD...: until CMD succeeds; fails the test when it does not in time. Looks are counted, since the
# clock of a virtual machine may jump by minutes.
wait_for() {
	local looks=$((($1 + 1) * 20)) never=''; shift
	until "$@"; do
		[ $((looks -= 1)) -gt 0 ] || { fail "still not true: $*"; return 1; }
		short_rest
	done
	rested
}

# short_rest: for 50 ms, by a read of a socket that nobody writes to: sleep would be a program to start, and a pipe of
# bash's own would change $!. rested: closes it. The caller has a variable "never".
short_rest() {
	if [ -n "$never" ] || { exec {never}<>/dev/udp/127.0.0.1/9; } 2>/dev/null; then
		read -rt 0.05 -u "$never" || true
	else
		sleep 0.05
	fi
}
rested() {
	[ -z "$never" ] || exec {never}>&-
}

# finished PID [SECONDS]: waits for a started process; its exit status is in $status then, as after
# `run` (and must not be called through it: only its parent can wait for a process).
# shellcheck disable=SC2034 # status is read by the test
finished() {
	local looks=$((${2:-30} * 20)) never=''
	while kill -0 "$1" 2>/dev/null; do
		[ $((looks -= 1)) -gt 0 ] || {
			# Where it hangs: on a busy machine, nobody sees it twice.
			grep -H "" "/proc/$1/task/"*/{comm,stack} | sed "s|^/proc/||"
			fail "process $1 does not end"
			return 1
		}
		short_rest
	done
	rested
	status=0
	wait "$1" || status=$?
}

# open_gate FILE N: in the background, makes FILE two seconds after the library has begun to trace in N processes.
open_gate() {
	(
		for _ in {1..300}; do
			[ "$(cat /proc/[0-9]*/task/[0-9]*/comm 2>/dev/null | grep -cx cupti-flush)" -lt "$2" ] || break
			sleep 0.1
		done
		sleep 2
		touch "$1"
	) 3>&- &
}

# tool_sources NAME...: the paths of these sources of the tool, whose base names are unique in it.
tool_sources() {
	local name path
	local -A paths=()
	while read -r path; do
		name=${path##*/}
		paths[${name%.c}]=$path
	done < <(find "$TOP/cuda-trace" -name '*.c')
	for name; do
		[ -n "${paths[$name]-}" ] || { fail "no $name.c in cuda-trace/"; return 1; }
		echo "${paths[$name]}"
	done
}
