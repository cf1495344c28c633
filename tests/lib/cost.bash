# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What an attack costs the tool: at most 64 MiB of memory and a second more than without it, on the same machine
# (docs/internals/threat-model.md, promise 1).
#   without COMMAND...  measures the tool without the attack
#   attacked COMMAND... measures it again, and fails if it takes more than that allows
# Both leave COMMAND's output in ./out and ./err. Each result is a line of $B/tap/costs.

MORE_MIB=64 MORE_MS=1000

# cost COMMAND...: sets cost_status, cost_mib (what the largest of its processes had at its peak) and cost_ms. If
# COMMAND makes the file ./over, the time counts from there: the tool's own, after its program's end. It has a CPU as soon as it
# wants one: what else this machine does would make it later than the attack.
cost() {
	rm -f over
	"${PROMPT[@]}" python3 - "$@" 2>usage <<-'EOF' || { fail "not measured: $* $(cat usage)"; return 1; }
	import os, resource, subprocess, sys, time
	begin = time.time()
	tool = subprocess.Popen(sys.argv[1:], stdout=open("out", "w"), stderr=open("err", "w"))
	try:
	    status = tool.wait(timeout=60)
	except subprocess.TimeoutExpired:
	    tool.kill()
	    status = 124 + 0 * tool.wait()
	end = time.time()
	if os.path.exists("over"):
	    begin = os.stat("over").st_mtime
	mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
	print(status, mib, int((end - begin) * 1000), file=sys.stderr)
	EOF
	read -r cost_status cost_mib cost_ms <usage
}

# peak PID: MiB that a running tool has had at its peak.
peak() {
	awk '/^VmHWM:/ { print int($2 / 1024) }' "/proc/$1/status"
}

# cost_noted WHAT: one line of the results, with the machine's load.
cost_noted() {
	local load
	read -r load _ </proc/loadavg
	mkdir -p "${TAP:-$B/tap}"
	echo "$BATS_TEST_DESCRIPTION: $1, load $load" | tee -a "${TAP:-$B/tap}/costs" >&2
}

without() {
	cost "$@" || return 1
	[ "$cost_status" = 0 ] || { fail "without the attack: $cost_status, $(cat err)"; return 1; }
	without_mib=$cost_mib without_ms=$cost_ms
}

# A machine that others keep busy can delay any process: what is late has two more tries, and is late in all of
# them if the attack is the reason.
attacked() {
	local try
	for try in 1 2 3; do
		cost "$@" || return 1
		cost_noted "$cost_mib MiB ($without_mib), $cost_ms ms ($without_ms)"
		[ "$cost_status" = 0 ] || { fail "status $cost_status: $(cat err)"; return 1; }
		[ "$cost_mib" -le $((without_mib + MORE_MIB)) ] || { fail "$cost_mib MiB, without the attack $without_mib"; return 1; }
		[ "$cost_ms" -gt $((without_ms + MORE_MS)) ] || return 0
	done
	fail "late in each of $try tries: $cost_ms ms, without the attack $without_ms"
}

# attacked_server PID MIB: a tool that runs on has at most 64 MiB more than the MIB that it had before.
attacked_server() {
	local now
	now=$(peak "$1")
	cost_noted "server $now MiB ($2)"
	[ "$now" -le $(($2 + MORE_MIB)) ] || fail "$now MiB, $2 before the attack"
}
