#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Mistyped commands, options and words: one line that names the nearest one, and status 2.

load ../lib/helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# mistake TEXT ARGS...: ct ARGS says TEXT in one line on stderr, and exits 2.
mistake() {
	local text=$1; shift
	run -2 --separate-stderr ct "$@"
	assert_output ''
	[ "${#stderr_lines[@]}" = 1 ] || fail "$*: $stderr"
	[[ $stderr == *"$text"* ]] || fail "$*: $stderr"
}

@test "cuda-trace (a mistyped command) names the nearest one" {
	mistake "there is no command 'trcae': did you mean trace? (see cuda-trace --help)" trcae
	mistake "did you mean record?" rec
	mistake "did you mean stat?" stats
	mistake "there is no command 'frobnicate' (see" frobnicate
	mistake "unknown option --frobnicate" --frobnicate
}

@test "cuda-trace (a program instead of a command) suggests stat --" {
	mistake "cuda-trace: './prog' is not a command; to run a program: cuda-trace stat -- ./prog" ./prog
	mistake "to run a program: cuda-trace stat -- ./prog" -- ./prog
	mistake "to run a program: cuda-trace stat -- awk" awk
}

@test "COMMAND (a mistyped option) names the nearest one, or why it is wrong" {
	mistake "unknown option --jsn: did you mean --json?" stat --jsn -a
	mistake "unknown option --sampel: did you mean --sample?" record --sampel 1
	mistake "unknown option --frobnicate (see" stat --frobnicate
	mistake "unknown option -Z" stat -Za
	mistake "option --json takes no value" stat --json=yes -a
	mistake "option --co is not unique: --comm, --count" stat --co 1
}

@test "-e, --sort, --source, --howto, --replay (a mistyped word) name it and the nearest one" {
	local command
	for command in stat trace record; do
		mistake "--events: 'kernel' is none of kernels, launches" $command -a -e copies,kernel,sync
		mistake "did you mean kernels?" $command -a -e copies,kernel,sync
	done
	for command in top metrics; do
		mistake "--events: 'kernel' is none of kernels, copies" $command -e kernel,copies
		mistake "did you mean kernels?" $command -e kernel,copies
	done
	mistake "--sort: 'mem' is none of gpu, launches, copy, memory" top -b --sort mem
	mistake "did you mean memory?" top -b --sort mem
	mistake "--source: 'cuptj' is none of auto, cupti, driver: did you mean cupti?" stat --source cuptj -a
	mistake "did you mean cron?" enable --howto crn
	mistake "did you mean application?" profile --counters quick --replay aplication -- true
	mistake "--events: 'frobnicate' is none of" stat -a -e frobnicate
	[[ $stderr != *"did you mean"* ]]
}

@test "stat, trace, record, top, profile (-a and another target) refuse" {
	local command target
	for command in stat trace record "top -b" "profile --pc"; do
		for target in "-p $$" "-c sh" "-u root" "--cgroup /"; do
			# shellcheck disable=SC2086
			mistake "either -a or -p, -c, -u, --cgroup" $command $target -a
		done
	done
}

@test "COMMAND (an operand too many) says so in the same words everywhere" {
	local command
	for command in top metrics list doctor enable disable status "report one" "report --compare one two"; do
		# shellcheck disable=SC2086
		mistake "unexpected operand 'extra' (see cuda-trace ${command%% *} --help)" $command extra
	done
}

@test "every usage error exits 2" {
	mistake "ADDRESS:PORT is wanted" metrics --listen nowhere
	mistake "this is not the name of a service" enable --service 'a b'
	mistake "only services start programs" enable --service a.socket
	mistake "a command name has 15 characters at most" stat -c 0123456789abcdef
	mistake "--max-size wants a size" record -o r.db --max-size banana -- true
	mistake "-k '(': " trace -a -k '('
	mistake "--delay: 100ms at least" top -b -d 1ms
}
