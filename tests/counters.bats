#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# profile --counters: hardware counters kernel by kernel, and the verdict over them.

load helpers

@test "verdict (scripted counters of each bottleneck, and their twins) finds each" {
	run -0 "$B/tests/verdict/unit"
	assert_output ok
}
