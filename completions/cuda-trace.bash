# SPDX-License-Identifier: BSD-2-Clause
# bash completion for cuda-trace. Commands and options are asked from the tool, which takes them
# from its option table: nothing to keep in step here.

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
	if [[ -z $command || $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$("${COMP_WORDS[0]}" ${command:+"$command"} --list-words 2>/dev/null)" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _cuda_trace cuda-trace
