# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For each command of a test, bats 1.8 saves the whole call stack, since older versions of bash do not know the line of a
# command that has failed: 0.26 ms. Here, the stack is saved when a command has failed. Newer versions of bats are left
# as they are.
[[ ${BATS_VERSION-} == 1.8.* ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 502)) || return 0

bats_debug_trap() {
	:
}

bats_error_trap() {
	bats_check_status_from_trap
	[ -n "$BATS_DEBUG_LAST_STACK_TRACE_IS_VALID" ] || save_stack
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

save_stack() {
	local i
	BATS_DEBUG_LAST_STACK_TRACE=()
	for ((i = 2; i < ${#FUNCNAME[@]}; i++)); do
		[[ ${BASH_SOURCE[i]} != "$BATS_ROOT"/lib* ]] || continue
		BATS_DEBUG_LAST_STACK_TRACE+=("${BASH_LINENO[i - 1]} ${FUNCNAME[i]} ${BASH_SOURCE[i]:-$BATS_TEST_SOURCE}")
		case ${FUNCNAME[i]} in "${BATS_TEST_NAME-}" | setup | teardown | setup_file | teardown_file) break ;; esac
	done
}
