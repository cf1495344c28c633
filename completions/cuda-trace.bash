# SPDX-License-Identifier: BSD-2-Clause
# bash completion for cuda-trace. Commands and options are asked from `cuda-trace --help` and
# `cuda-trace COMMAND --help`, which print the option table: nothing to keep in step here.

_cuda_trace_words() {
	"${COMP_WORDS[0]}" "$@" --help 2>/dev/null
}

_cuda_trace() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] && { _command_offset $((i + 1)); return; }
		[[ -n $command || ${COMP_WORDS[i]} == -* ]] || command=${COMP_WORDS[i]}
	done
	if [[ -z $command && $cur != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_cuda_trace_words |
			sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')" -- "$cur")
		return
	fi
	case $prev in
	-p | --pid) mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid=)" -- "$cur"); return ;;
	-u | --user | --uid) mapfile -t COMPREPLY < <(compgen -u -- "$cur"); return ;;
	-o | --output | --root | --cgroup) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_cuda_trace_words ${command:+"$command"} |
			grep -oE -- '(^|[ ,])--?[A-Za-z0-9][A-Za-z0-9-]*' | tr -d ' ,')" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _cuda_trace cuda-trace
