#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace list: which processes use CUDA, and how each can be traced.

load ../lib/helpers

setup() {
	requires bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "list (a program with the library, asleep) says so" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	ct list --json | jq -c "select(.pid == $storm_PID)" >row
	json row '.state == "dormant" and .source == "cupti" and .guest and .cupti_version == null and (.note | startswith("dormant;"))'
}

@test "list (a program with the agent) shows its state and libcupti" {
	start storm "$SIM" env CUPTI_USDT_START=1 CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	ct list --json | jq -c "select(.pid == $storm_PID)" >row
	json row '.process == "launch-storm" and .source == "cupti" and .guest'
	# Somebody else's tool may watch the whole system just now.
	[ "$(jq -r .state row)" = dormant ] || pgrep -x cuda-trace >/dev/null
	json row '.cupti_version > 0 and (.cupti_path | length > 0) and .user == "root"'
	ct list | grep -E "^ *$storm_PID launch-storm +root +(dormant|active) +cupti "
}

@test "list (a CUDA program without the agent) says how to trace it" {
	start storm "$SIM" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	ct list --json | jq -c "select(.pid == $storm_PID)" >row
	json row '.state == "none" and .source == "driver" and (.guest | not)'
	json row '.note == "-p or --attach loads the library, for GPU times"'
}

@test "list (a watched program) shows it active, and leaves it so" {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	start tool "$CUDA_TRACE" stat -p "$storm_PID" -d 20 --json
	# Of one of many: the status of jq -e without -s is that of the last line, which may be another process's.
	is_active() { ct list --json | jq -s -e "any(.pid == $storm_PID and .state == \"active\")" >state; }
	wait_for 10 is_active
	# Looking at it has not changed that.
	is_active
}

@test "list (another client holds CUPTI) names it, and what that means" {
	SIMCUDA_OTHER_SUBSCRIBER=$'Nsight \e[31m' CUDA_INJECTION64_PATH=$AGENT start held "$SIM" \
		"$WORKLOADS/launch-storm" -s 20 -p 20000
	ready held
	ct list --json | jq -c "select(.pid == $held_PID)" >row
	json row '.guest and (.state == "dormant" or .state == "yielded")'
	# The agent subscribes only when a tool attaches.
	start tool "$CUDA_TRACE" stat -p "$held_PID" -d 20 --json
	yields() { ct list --json | jq -c "select(.pid == $held_PID)" >row && [ "$(jq -r .state row)" = yielded ]; }
	wait_for 10 yields || fail "$(cat row)"
	json row '.holder == "Nsight \u001b[31m" and (.note | length > 0)'
	ct list --wide >page
	grep -E "^ *$held_PID launch-storm .* yielded " page
	run ! grep -q $'\e' page
}

@test "list (programs without CUDA) leaves them out" {
	start plain sleep 20
	sleep 0.2
	run -0 --separate-stderr ct list --json
	refute_output --partial "\"pid\":$plain_PID,"
}

@test "list (not root) shows what a user may see" {
	requires setpriv
	cp "$CUDA_TRACE" ./cuda-trace
	chmod 755 "$BATS_TEST_TMPDIR" ./cuda-trace
	start storm setpriv --reuid 65534 --regid 65534 --clear-groups "$SIM" \
		env CUPTI_USDT_START=1 CUDA_INJECTION64_PATH="$AGENT" "$WORKLOADS/launch-storm" -s 20 -p 1000
	ready storm
	setpriv --reuid 65534 --regid 65534 --clear-groups ./cuda-trace list --json |
		jq -c "select(.pid == $storm_PID)" >row
	json row '.guest and .state == "unknown" and (.note | contains("CAP_BPF"))'
}

@test "containers (control groups with names that no engine gives) are none" {
	local id
	id=$(printf '%064x' 4711)
	cc -D_GNU_SOURCE -I"$TOP" -o container "$TOP/tests/proc/unit_container.c" "$TOP/cuda-trace/proc/cgroup.c"
	run -0 ./container "/machine.slice/machine-a\\x2db_1.c.scope" "/user/lxc.payload.box" "/x/docker-$id.scope" \
		$'/user/machine-\e[31m.scope' $'/lxc.payload.a\nb' "/lxc.payload.a<b" "/lxc.payload.größe" "/machine-a\\x0a.scope" \
		$'/lxc.payload.\e/lxc.payload.inner' "/machine-.scope"
	assert_equal "$output" $'a-b_1.c\nbox\n000000000000\n\n\n\n\n\ninner'
}
