#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Pods, jobs and units of programs in real control groups: what metrics, top, list, stat and record say of each, with a
# container runtime of the tests' own.

load ../lib/helpers

setup() {
	requires bpf sim curl jq node
	[ -d "$B/npm/node_modules/@grpc/grpc-js" ] || skip "needs @grpc/grpc-js (mk/npm-packages)"
	cd "$BATS_TEST_TMPDIR" || return 1
	local mount
	mount=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	[ -w "$mount" ] || skip "needs a writable cgroup version 2"
	ABOVE=$mount/pods-$$
	mkdir "$ABOVE"
	cp "$WORKLOADS/launch-storm" in-pod
	PROGRAM=$PWD/in-pod
	export CONTAINER_RUNTIME_ENDPOINT=unix://$PWD/cri.sock
	touch pods
	start runtime node "$TOP/tests/origin/cri-server.js" "$B/npm/node_modules" "$PWD/cri.sock" pods
	wait_for 30 grep -qs listening runtime.out
}

gone() {
	find "$ABOVE" -depth -type d -exec rmdir {} + 2>/dev/null || true
	[ ! -e "$ABOVE" ]
}

teardown() {
	stop_started
	[ -z "${ABOVE:-}" ] || wait_for 10 gone
}

# hexadecimal N: a container's.
hexadecimal() {
	printf '%08x%056x' "$1" 77
}

# group N: a pod's, as containerd and systemd name it.
group() {
	echo "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod$1.slice/cri-containerd-$(hexadecimal "$1").scope"
}

# in_group GROUP LAUNCHES NAME: a program there, which stays until $gate is opened.
in_group() {
	mkdir -p "$ABOVE/$1"
	start "$3" sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$ABOVE/$1" \
		env CUDA_INJECTION64_PATH="$AGENT" PROGRAM_LAST_GATE="$gate" "$SIM" "$PROGRAM" -n "$2"
}

exporter() {
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0 "$@"
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

# counted FROM TO: is what these pods launched, as it should be, under their names?
counted() {
	curl -sS -f --max-time 10 -o scrape "$URL/metrics" || return 1
	local n
	for n in $(seq "$1" "$2"); do
		grep -qxF "cuda_kernel_launches_total{comm=\"${PROGRAM##*/}\",device=\"0\",container_id=\"$(hexadecimal "$n" | head -c 12)\",k8s_namespace_name=\"team-$((n % 7))\",k8s_pod_name=\"train-$n\",k8s_container_name=\"worker\"} $((100 + n))" scrape ||
			return 1
	done
}

done_all() {
	local n
	for n in $(seq "$1" "$2"); do
		grep -q ^expect "pod$n.out" || return 1
	done
}

# ended FROM TO: their processes have gone, and their groups with them.
ended() {
	local n
	for n in $(seq "$1" "$2"); do
		[ ! -e "$ABOVE/$(group "$n")" ] || rmdir "$ABOVE/$(group "$n")" 2>/dev/null || return 1
	done
}

@test "metrics (100 pods that come and go) counts each under its own name" {
	local first n
	exporter
	for first in $(seq 1 20 100); do
		gate=gate$first
		mkfifo "$gate"
		for n in $(seq "$first" $((first + 19))); do
			# The first half of each lot is created before the other half is known.
			echo "$(hexadecimal "$n") team-$((n % 7)) train-$n worker" >>pods
			in_group "$(group "$n")" $((100 + n)) "pod$n"
		done
		wait_for 60 done_all "$first" $((first + 19))
		wait_for 30 counted "$first" $((first + 19)) || { grep ^cuda_kernel_launches_total scrape; false; }
		timeout 10 sh -c ": >$gate"
		wait_for 30 ended "$first" $((first + 19))
		: >pods
	done
	counted 1 100 || { grep ^cuda_kernel_launches_total scrape; false; }
	assert_equal "$(awk '/^cuda_kernel_launches_total[{]/ { sum += $NF } END { print sum }' scrape)" $((100 * 100 + 5050))
	# Each was looked up once.
	assert_equal "$(sed 1d runtime.out | sort | uniq -c | awk '$1 != 1' | wc -l)" 0
	assert_equal "$(sed 1d runtime.out | wc -l)" 100
	! grep -v 'listening on' exporter.err || false
	if command -v promtool >/dev/null; then
		run -0 promtool check metrics <scrape
	fi
}

# alone: a pod's program.
alone() {
	gate=last
	mkfifo last
	echo "$(hexadecimal 1) team-1 train-1 worker" >pods
	in_group "$(group 1)" 250 one
	wait_for 30 grep -qs ^expect one.out
}

# launching: likewise, for a minute.
launching() {
	echo "$(hexadecimal 1) team-1 train-1 worker" >pods
	mkdir -p "$ABOVE/$(group 1)"
	start one sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$ABOVE/$(group 1)" \
		env CUDA_INJECTION64_PATH="$AGENT" "$SIM" "$PROGRAM" -s 60 -p 1000
	ready one
}

NAMES='.k8s_namespace_name == "team-1" and .k8s_pod_name == "train-1" and .k8s_container_name == "worker"
	and .container_name == null and .slurm_job_id == null and .systemd_unit == null'

@test "list and top name the pod, in text and in JSON" {
	launching
	ct list --json | jq -c 'select(.process == "in-pod")' >row
	json row "$NAMES and .origin == \"team-1/train-1/worker\" and .container == \"000000010000\""
	ct list >page
	grep -qE "^ *[0-9]+ in-pod .* team-1/train-1/worker +" page || { cat page; false; }
	start top "$CUDA_TRACE" top --json -d 300ms -c in-pod
	start pages "$CUDA_TRACE" top -b -d 300ms -c in-pod
	wait_for 30 grep -qs '"process":"in-pod"' top.out
	grep '"process":"in-pod"' top.out | tail -n 1 | jq -c '.processes[] | select(.process == "in-pod")' >row
	json row "$NAMES and .container == \"000000010000\""
	wait_for 30 grep -qE '^ *[0-9]+ in-pod .* team-1/train-1/worker$' pages.out
}

@test "stat -a and record name the pod" {
	start stat "$CUDA_TRACE" stat -v -a --json -o stat.json
	start record "$CUDA_TRACE" record -v -a -o r.db
	wait_for 30 grep -q watching stat.err
	wait_for 30 grep -q watching record.err
	alone
	timeout 10 sh -c ': >last'
	finished "$one_PID"
	kill -INT "$stat_PID" "$record_PID"
	finished "$stat_PID"
	finished "$record_PID"
	jq -c '.processes[] | select(.process == "in-pod")' stat.json >row
	json row "$NAMES and .launches == 250"
	assert_equal "$(sqlite3 r.db "SELECT k8s_namespace_name, k8s_pod_name, k8s_container_name, container, systemd_unit,
		o.cgroup LIKE '%/$(group 1)' FROM CUDA_TRACE_ORIGINS o JOIN CUDA_TRACE_PROCESSES p USING (globalPid, instance)
		WHERE p.name = 'in-pod'")" "team-1|train-1|worker|000000010000||1"
	ct report --processes --json r.db >processes.json
	json processes.json 'select(.name == "in-pod") | .origin == "team-1/train-1/worker"'
	sqlite3 r.db 'DROP TABLE CUDA_TRACE_ORIGINS'
	run -0 ct report --processes r.db
	assert_output --partial in-pod
}

@test "metrics (a container runtime that comes later, a pod that it names later) counts on under the name" {
	kill "$runtime_PID"
	finished "$runtime_PID"
	rm -f cri.sock
	exporter
	launching
	seen() {
		curl -sS -f --max-time 10 -o scrape "$URL/metrics" &&
			grep -q "^cuda_kernel_launches_total{comm=\"in-pod\",device=\"0\",container_id=\"000000010000\"$1} [1-9]" scrape
	}
	wait_for 20 seen ''
	start runtime node "$TOP/tests/origin/cri-server.js" "$B/npm/node_modules" "$PWD/cri.sock" pods
	wait_for 40 seen ',k8s_namespace_name="team-1",k8s_pod_name="train-1",k8s_container_name="worker"'
	# The earlier launches stay where they are.
	before=$(sed -n 's/^cuda_kernel_launches_total{comm="in-pod",device="0",container_id="000000010000"} //p' scrape)
	seen ''
	assert_equal "$(sed -n 's/^cuda_kernel_launches_total{comm="in-pod",device="0",container_id="000000010000"} //p' scrape)" "$before"
}
