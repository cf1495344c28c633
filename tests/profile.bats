#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# cuda-trace profile: which mode is asked for.

load helpers

@test "profile (no mode) says which there are and exits 2" {
	run -2 --separate-stderr ct profile -- true
	assert_output ""
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"--pc"* ]]
}

@test "profile --pc (nobody named) asks whom to watch and exits 2" {
	run -2 --separate-stderr ct profile --pc
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"whom to watch"* ]]
}
