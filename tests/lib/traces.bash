# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For each command of a test, bats 1.8 takes down the whole call stack, since bash may not know the line of a command that
# has failed: 0.26 ms, a quarter of all that tests cost. Here, the lines alone are remembered (0.02 ms); the rest of the
# stack is still there when a command has failed.
[[ ${BATS_VERSION-} == 1.8.* ]] || return 0

TRACED_LAST='' TRACED_BEFORE=''

bats_debug_trap() { # FILE
	case $1 in
	"$BATS_ROOT"/lib* | */lib/traces.bash) ;;
	*) TRACED_BEFORE=$TRACED_LAST TRACED_LAST=${BASH_LINENO[*]} ;;
	esac
}

bats_error_trap() {
	bats_check_status_from_trap
	[ -n "$BATS_DEBUG_LAST_STACK_TRACE_IS_VALID" ] || save_stack
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

# Of the innermost function, the line is the one before, if bash names now what it did just before: see bats_debug_trap
# in bats' tracing.bash.
save_stack() {
	local lines=("${BASH_LINENO[@]:1}") i
	[ "$TRACED_LAST" != "${lines[*]}" ] || TRACED_LAST=$TRACED_BEFORE
	[ "${TRACED_LAST#* }" != "${lines[*]:1}" ] || lines[0]=${TRACED_LAST%% *}
	BATS_DEBUG_LAST_STACK_TRACE=()
	for ((i = 2; i < ${#FUNCNAME[@]}; i++)); do
		[[ ${BASH_SOURCE[i]} != "$BATS_ROOT"/lib* ]] || continue
		BATS_DEBUG_LAST_STACK_TRACE+=("${lines[i - 2]} ${FUNCNAME[i]} ${BASH_SOURCE[i]:-$BATS_TEST_SOURCE}")
		case ${FUNCNAME[i]} in "${BATS_TEST_NAME-}" | setup | teardown | setup_file | teardown_file) break ;; esac
	done
}
