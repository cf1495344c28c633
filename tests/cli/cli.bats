#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What the command line answers to mistakes, and to those who may not trace.

load ../lib/helpers

COMMANDS=(trace stat list)

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# Ordinary users cannot read a test's folder: a place of their own.
as_nobody() {
	requires root setpriv
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all --inh-caps -all "$@"
}

@test "cuda-trace --version prints the version of the tree" {
	run -0 ct --version
	assert_output "cuda-trace $(cat "$TOP/VERSION")"
}

@test "cuda-trace (no command) explains itself on stderr and exits 2" {
	run -2 --separate-stderr ct
	assert_output ''
	[[ $stderr == Usage:* ]]
}

@test "cuda-trace help (alone, with a command) is --help" {
	run -0 --separate-stderr ct help
	assert_output "$(ct --help)"
	run -0 --separate-stderr ct help stat
	assert_output "$(ct stat --help)"
	run -2 ct help fly
	assert_output "cuda-trace help: there is no command or page 'fly' (see cuda-trace --help)"
}

@test "doctor -p, top --sort (what there is not) say so in one line" {
	run -1 ct doctor -p 99999999
	assert_output "cuda-trace doctor: there is no process 99999999"
	run -2 ct top --sort magic
	assert_output "cuda-trace top: --sort: 'magic' is none of gpu, launches, copy, memory, wait, errors, pid, name (see cuda-trace top --help)"
}

@test "cuda-trace (unknown command, unknown option) says which and exits 2" {
	run -2 ct fly
	assert_output "cuda-trace: there is no command 'fly' (see cuda-trace --help)"
	run -2 ct stat --fly
	assert_output 'cuda-trace stat: unknown option --fly (see cuda-trace stat --help)'
	run -2 ct trace -p
	assert_output 'cuda-trace trace: option -p needs a value (see cuda-trace trace --help)'
	run -2 ct trace -p 12x
	assert_output --partial "--pid wants a process id, not '12x'"
	run -2 ct stat -a -d fast
	assert_output --partial "--duration wants a time such as 500us, 10ms or 2s, not 'fast'"
	run -2 ct stat -u no-such-user-at-all
	assert_output --partial "--user wants a user's name or number"
}

@test "COMMAND --help fits 80 columns, names every option and ends with EXAMPLES" {
	local command
	for command in "${COMMANDS[@]}"; do
		run -0 --separate-stderr ct "$command" --help
		assert_line 'EXAMPLES'
		run awk 'length > 80' <<<"$output"
		assert_output ''
	done
}

@test "COMMAND (manual page) documents exactly the options of --help" {
	local command
	for command in "${COMMANDS[@]}"; do
		ct "$command" --help | sed -n '/^EXAMPLES/q; s/^  .*\(--[a-z][a-z-]*\).*/\1/p' | sort -u >help
		sed -n '/^# OPTIONS/,/^# /s/^\*.*\(--[a-z][a-z-]*\).*/\1/p' \
			"$TOP/man/cuda-trace-$command.1.scd" | sort -u >page
		run diff help page
		assert_success
	done
}

@test "stat (no target) asks whom to watch and exits 2" {
	run -2 ct stat
	assert_output 'cuda-trace stat: nothing to watch: give -- PROGRAM, -p PID, or -a for all processes (see cuda-trace stat --help)'
}

@test "stat (PROGRAM and -p together) is refused" {
	run -2 ct stat -p 1 -- true
	assert_output --partial 'either PROGRAM or'
}

@test "stat -k (no regular expression) is refused" {
	run -2 ct stat -a -k '('
	assert_output --partial "cuda-trace: -k '(': "
}

@test "stat -p (no such process) says so and exits 1" {
	run -1 ct stat -p 4194000
	assert_output 'cuda-trace stat: there is no process 4194000'
}

@test "stat -p (no CUDA program) says so, and what is missing" {
	requires bpf
	start plain sleep 20
	sleep 0.2
	run -0 ct stat -p "$plain_PID" -d 200ms
	assert_output --partial "process $plain_PID (sleep) is not a CUDA program yet"
}

@test "stat -p (a CUDA program started without the agent) names the remedy" {
	requires bpf sim
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	run -0 ct stat --no-attach -p "$storm_PID" -d 200ms
	assert_output --partial "process $storm_PID (launch-storm) was started without the injection library: no GPU times; leave out --no-attach"
}

@test "stat (PROGRAM not found) exits 127, (not executable) 126" {
	requires bpf
	run -127 ct stat -- no-such-program
	assert_output 'cuda-trace: no-such-program: not found'
	run -126 ct stat -- /etc/passwd
	assert_output 'cuda-trace: /etc/passwd: Permission denied'
}

@test "stat (another injection in the environment) replaces it and says so" {
	requires bpf
	run -0 --separate-stderr env CUDA_INJECTION64_PATH=/opt/other.so "$CUDA_TRACE" stat -- \
		sh -c 'echo "$CUDA_INJECTION64_PATH"'
	assert_output "$AGENT"
	[[ $stderr == *'CUDA_INJECTION64_PATH=/opt/other.so is replaced for this program'* ]]
}

@test "stat (CUDA_TRACE=off) warns" {
	requires bpf
	run -0 env CUDA_TRACE=off "$CUDA_TRACE" stat -- true
	assert_output --partial 'CUDA_TRACE=off is set: the program will not be traced'
}

@test "stat (CUDA_TRACE_AGENT names nothing) says so and does not run PROGRAM" {
	requires bpf
	run -1 env CUDA_TRACE_AGENT=/no/such.so "$CUDA_TRACE" stat -- echo ran
	assert_output 'cuda-trace: CUDA_TRACE_AGENT=/no/such.so: No such file or directory'
}

@test "stat (not root, no capability) names both capabilities in one line" {
	cp "$CUDA_TRACE" ./cuda-trace
	chmod 755 "$BATS_TEST_TMPDIR" ./cuda-trace
	run -1 as_nobody ./cuda-trace stat -a -d 1
	assert_equal "${#lines[@]}" 1
	assert_output --partial 'cuda-trace: CAP_BPF and CAP_PERFMON are missing: use sudo, or once: sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,'
}

@test "setcap (the line that doctor and a refusal print) is one, and lets an ordinary user trace" {
	requires bpf setpriv setcap
	cp "$CUDA_TRACE" ./cuda-trace
	chmod 755 "$BATS_TEST_TMPDIR" ./cuda-trace
	local line refused
	line=$(setpriv --bounding-set -sys_ptrace --inh-caps -all ./cuda-trace doctor 2>&1 | grep -o 'sudo setcap .*cuda-trace')
	# Seen by someone who has no right to try it out.
	refused=$(as_nobody ./cuda-trace stat -a -d 1 2>&1 | grep -o 'sudo setcap .*cuda-trace')
	assert_equal "$refused" "$line"
	eval "${line#sudo }"
	mkdir work
	chmod 777 work
	cd work
	run -0 env CUDA_TRACE_AGENT="" setpriv --reuid 65534 --regid 65534 --clear-groups ../cuda-trace stat --source driver -- true
	assert_output --partial 'No CUDA activity was seen'
}

@test "stat (root without CAP_PERFMON) names that one" {
	requires root setpriv
	run -1 setpriv --bounding-set -perfmon,-sys_admin --inh-caps -all "$CUDA_TRACE" stat -a -d 1
	assert_output --partial 'cuda-trace: CAP_PERFMON is missing: '
}

# without FOLDER COMMAND...: as on a kernel that has nothing there.
without() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$@"
}

@test "stat, record, trace (a kernel without BTF, without uprobes) name what it lacks" {
	requires bpf unshare
	local command
	for command in "stat -d 1" "trace -d 1" "record -d 1 -o $BATS_TEST_TMPDIR/r.db"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr without /sys/kernel/btf "$CUDA_TRACE" $command -a
		assert_equal "$output" ""
		[[ ${stderr_lines[0]} == "cuda-trace: this kernel ("*") has no BTF (/sys/kernel/btf/vmlinux): it needs Linux 5.15 or newer built with CONFIG_DEBUG_INFO_BTF" ]]
		# shellcheck disable=SC2086
		run -1 --separate-stderr without /sys/bus/event_source/devices "$CUDA_TRACE" $command -a
		[[ ${stderr_lines[0]} == "cuda-trace: this kernel ("*") has no uprobes (CONFIG_UPROBE_EVENTS), or /sys is not mounted" ]]
	done
	assert [ ! -e "$BATS_TEST_TMPDIR/r.db" ]
}

# Linux 6.16 and later ask for CAP_SYS_ADMIN, too: then that is what must be said.
@test "stat (only CAP_BPF and CAP_PERFMON) traces, or says that the kernel wants more" {
	requires bpf sim setpriv
	local caps=-all,+bpf,+perfmon
	setpriv --bounding-set $caps --inh-caps -all true
	if ! setpriv --bounding-set $caps --inh-caps -all "$CUDA_TRACE" stat -- true 2>err; then
		grep -q '^cuda-trace: this kernel lets only CAP_SYS_ADMIN set uprobes: use sudo, or' err
		caps+=,+sys_admin
	fi
	start storm setpriv --bounding-set $caps --inh-caps -all "$SIM" \
		env CUPTI_USDT_START=1 CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	run -0 --separate-stderr setpriv --bounding-set $caps --inh-caps -all \
		"$CUDA_TRACE" stat -p "$storm_PID" -d 1 --json
	json <(echo "$output") '.totals.kernels > 100 and .lost.total == 0'
}

@test "JSON (stat, report) has numbers as short as exactness allows" {
	requires bpf sim sqlite3
	ct stat --json -o s.json -- "$SIM" "$WORKLOADS/saxpy" >/dev/null
	python3 - s.json <<-'END'
		import json, re, sys
		text = open(sys.argv[1]).read()
		for number in re.findall(r'(?<=[:\[, ])-?\d+\.\d+(?:e[+-]?\d+)?', text):
		    shortest = repr(float(number))
		    if len(number) > len(shortest):
		        sys.exit(f'{number} could be {shortest}')
	END
	ct record -q -o r.db -- true
	run -0 ct report --json --sql 'SELECT 8.811573 AS a, 0.1 + 0.2 AS b, 2.0 / 3 AS c, 3.0 AS d' r.db
	assert_output '{"a":8.811573,"b":0.30000000000000004,"c":0.6666666666666666,"d":3}'
}

@test "stat (the tool in a control group namespace with a mount of its own) shows no path of .. folders" {
	requires bpf sim unshare
	local mount group
	mount=$(findmnt -nt cgroup2 -o TARGET | head -1)
	[ -n "$mount" ] || skip "needs cgroup version 2"
	group=$mount/cuda-trace-test-$$
	mkdir -p "$group/pod" "$group/tool" || skip "cannot make control groups"
	start storm sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group/pod" \
		env CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	# shellcheck disable=SC2016 # the inner shells'
	sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group/tool" unshare -C -m --propagation private \
		sh -c 'umount -R "$0"; mount -t cgroup2 none "$0"; exec "$@"' "$mount" \
		"$CUDA_TRACE" stat -p "$storm_PID" -d 1 --json -o s.json || true
	stop_started
	sleep 0.2
	rmdir "$group/pod" "$group/tool" "$group"
	json s.json '.processes[0].cgroup == "/pod"'
}
