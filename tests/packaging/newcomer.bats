#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What README.md promises on top: a fresh Debian 12 with git and make, nothing else of ours, and one
# command. `make check-packages` runs this file.

load ../lib/helpers
load ../lib/roots

setup() {
	requires root bpf debootstrap
}

@test "make demo (a fresh Debian 12 with git and make only) installs what it lacks, builds and shows the main job" {
	local root=$B/t/newcomer
	new_root bookworm "$root"
	# In the home folder of root, which nobody else can read, and with processes of its own, like a container.
	mkdir -p "$root/root/src"
	tar -C "$TOP" --exclude=./build --exclude="${B/#"$TOP"/.}" --exclude=.git -cf - . | tar -C "$root/root/src" -xf -
	assert_equal "$(stat -c %a "$root/root")" 700
	# shellcheck disable=SC2016 # expanded inside
	run in_root "$root" '
		apt-get -qq install -y --no-install-recommends git make >/dev/null 2>&1
		! command -v cc clang bpftool
		cd /root/src
		make demo B="$1" 2>&1
	' /root/src/build
	assert_success
	assert_line --partial "on the simulated driver"
	assert_line --partial "== cuda-trace stat"
	assert_line --partial "== cuda-trace trace"
	# The kernel, with a GPU time, in both.
	[ "$(grep -c saxpy <<<"$output")" -ge 3 ]
	# One line for each step, then the demo.
	[ "$(sed '/^== /,$d' <<<"$output" | wc -l)" -le 5 ] || fail "$output"
	rm -rf --one-file-system "$root"
}
