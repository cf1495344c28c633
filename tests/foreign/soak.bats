#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A day's work in small (tests/soak): what the tools use comes back to what it was, and all is counted.

load ../lib/helpers

teardown() {
	stop_started
}

@test "soak (500,000 records, 90 processes, 9 containers) leaves nothing behind, and counts all" {
	requires root bpf sim setpriv unshare python3
	CYCLES=3 LIMIT=150 run -0 timeout 150 "$TOP/tests/soak" 0.0009
	assert_line --regexp '^round 3: '
	assert_line --regexp '^metrics: [0-9]+ records seen, [0-9]+ of them under another name, [0-9]+ lost, [0-9]+ sent$'
	assert_line 'soak: ok'
}

@test "soak (a limit that the tools exceed) fails, and says which" {
	requires root bpf sim setpriv unshare python3
	CYCLES=1 LIMIT_KB=-1 run -1 timeout 100 "$TOP/tests/soak" 0.0001
	assert_line --regexp '^soak: metrics: [0-9]+ KiB of memory, after [0-9]+ at first$'
	assert_line --regexp '^soak: [0-9]+ problems$'
}
