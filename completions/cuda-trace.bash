# SPDX-License-Identifier: BSD-2-Clause
# bash completion for cuda-trace. Commands and options are read from --help, which the tool prints
# from its tables: nothing to keep in step here.

_cuda_trace_commands() {
	"${COMP_WORDS[0]}" --help 2>/dev/null |
		sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *.*/\1/p'
}

_cuda_trace_options() {
	"${COMP_WORDS[0]}" "$@" --help 2>/dev/null |
		sed -n 's/^  \(-[A-Za-z],\| \{3\}\) \(--[a-z0-9-]*\).*/\1 \2/p' | tr -d ,
}

# _cuda_trace_values COMMAND OPTION WORD: completes WORD, of a list its last element; fails where any
# text may stand.
_cuda_trace_values() {
	local values before=''
	values=$("${COMP_WORDS[0]}" "$1" --complete "$2" 2>/dev/null) || return
	[[ $3 != *,* ]] || before=${3%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$values" -- "${3##*,}")
}

_cuda_trace() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			_command_offset $((i + 1))
			return
		fi
		[[ -n $command || ${COMP_WORDS[i]} == -* ]] || command=${COMP_WORDS[i]}
	done
	case $prev in
	-p | --pid)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid=)" -- "$cur")
		return
		;;
	-u | --user)
		mapfile -t COMPREPLY < <(compgen -u -- "$cur")
		return
		;;
	esac
	if [[ $cur == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-1]} cur=''
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	[[ -z $command || $prev != -* ]] || ! _cuda_trace_values "$command" "$prev" "$cur" || return
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_cuda_trace_options ${command:+"$command"})" -- "$cur")
	elif [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_cuda_trace_commands) help" -- "$cur")
	elif [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" help --complete 2>/dev/null)" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _cuda_trace cuda-trace
