#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Containers and control groups of programs, in real groups named as engines name them and as nobody
# should: what metrics, top and list say of each.

load ../lib/helpers

setup() {
	requires bpf sim curl jq
	cd "$BATS_TEST_TMPDIR" || return 1
	local mount
	mount=$(findmnt -nt cgroup2 -o TARGET | head -n 1)
	[ -w "$mount" ] || skip "needs a writable cgroup version 2"
	ID=$((RANDOM % 1000))
	NAMED=/labels-$$
	ABOVE=$mount$NAMED
}

gone() {
	find "$ABOVE" -depth -type d -exec rmdir {} + 2>/dev/null || true
	[ ! -e "$ABOVE" ]
}

teardown() {
	stop_started
	[ -z "${ABOVE:-}" ] || wait_for 10 gone
}

# in_group GROUP: a program in this group, which stays when it is done; what it is called goes into
# $program, the group into GROUPS_OF.
in_group() {
	program=g${#GROUPS_OF[@]}-$ID
	GROUPS_OF+=("$1")
	mkdir -p "$ABOVE/$1"
	cp "$WORKLOADS/launch-storm" "$program"
	start "program${#GROUPS_OF[@]}" sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$ABOVE/$1" \
		env CUDA_INJECTION64_PATH="$AGENT" PROGRAM_LAST_GATE=last "$SIM" "./$program" -n 100
}

# hexadecimal N: a container's.
hexadecimal() {
	printf '%012x%052d' "$1" 7
}

# said PROGRAM CONTAINER: by metrics, list and top, once they have seen all of it.
said() {
	[ "$(grep "^cuda_kernel_launches_total{comm=\"$1\"" scrape)" = "cuda_kernel_launches_total{comm=\"$1\",device=\"0\",container_id=\"$2\"} 100" ] &&
		[ "$(jq -r "select(.process == \"$1\") | .container" list)" = "$2" ] &&
		[ "$(tail -n 1 top.out | jq -r ".processes[] | select(.process == \"$1\") | .container")" = "$2" ]
}

look() {
	curl -sS -f --max-time 10 -o scrape "$URL/metrics"
	ct list --json >list
}

watchers() {
	mkfifo last
	start exporter "$CUDA_TRACE" metrics --listen 127.0.0.1:0
	start top "$CUDA_TRACE" top --json --cgroup "$ABOVE" -d 300ms
	wait_for 15 grep -q 'listening on' exporter.err
	URL=$(sed -n 's/.*listening on \(http.*\)\/metrics$/\1/p' exporter.err)
}

@test "containers (control groups as docker, containerd, CRI-O, podman, LXC and nspawn name them) are named by metrics, top and list" {
	local shown=() i n=0
	mkdir "$ABOVE"
	watchers
	for group in "docker-%.scope" "docker/%" "system.slice/docker-%.scope" \
		"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podab_1.slice/cri-containerd-%.scope" \
		"kubepods/besteffort/pod0a-1b/%" "kubepods.slice/kubepods-pod7.slice/crio-%.scope" \
		"libpod-%.scope/container" "docker-$(hexadecimal 4095).scope/docker/%" \
		'machine.slice/machine-box\x2d1.scope' 'lxc.payload.box_2' 'system.slice/systemd-nspawn@box.3.service'; do
		n=$((n + 1))
		in_group "${group/\%/$(hexadecimal $n)}"
		shown+=("$(hexadecimal $n | head -c 12)")
	done
	shown[8]=box-1 shown[9]=box_2 shown[10]=box.3
	for i in "${!GROUPS_OF[@]}"; do
		wait_for 30 grep -q ^expect "program$((i + 1)).out"
	done
	for i in "${!GROUPS_OF[@]}"; do
		right() { look; said "g$i-$ID" "${shown[i]}"; }
		wait_for 10 right || fail "${GROUPS_OF[i]}: $(grep "^cuda_kernel_launches_total{comm=\"g$i-$ID" scrape; grep "g$i-$ID" list)"
	done
}

@test "containers (control groups with names that only harm is meant by) are none, and the names are escaped" {
	local hex i group text
	hex=$(hexadecimal 17)
	mkdir "$ABOVE"
	watchers
	# Too few digits, too many; an escape sequence, quotes and what ends a label set.
	for group in "docker-${hex:1}.scope" "docker-0$hex.scope" $'docker-\e[31mred.scope' 'lxc.payload."} 1' \
		$'machine-\\x0a.scope' 'box",container_id="x'; do
		in_group "$group"
	done
	for i in "${!GROUPS_OF[@]}"; do
		wait_for 30 grep -q ^expect "program$((i + 1)).out"
	done
	sleep 0.5
	look
	for i in "${!GROUPS_OF[@]}"; do
		group=$NAMED/${GROUPS_OF[i]}
		# What a terminal would obey first, then what the format would.
		text=${group//$'\e'/\\x1b}
		text=${text//\\/\\\\}
		text=${text//\"/\\\"}
		grep -qxF "cuda_kernel_launches_total{comm=\"g$i-$ID\",device=\"0\",cgroup=\"$text\"} 100" scrape ||
			fail "$(grep "^cuda_kernel_launches_total{comm=\"g$i-$ID" scrape)"
		assert_equal "$(jq -r "select(.process == \"g$i-$ID\") | .container // \"none\"" list)" none
		assert_equal "$(jq -r "select(.process == \"g$i-$ID\") | .cgroup" list)" "$group"
		assert_equal "$(tail -n 1 top.out | jq -r ".processes[] | select(.process == \"g$i-$ID\") | .container // \"\"")" ""
	done
	if command -v promtool >/dev/null; then
		run -0 promtool check metrics <scrape
	fi
	ct list --wide >page
	run ! grep -q $'\e' page
}
