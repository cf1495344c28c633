#compdef cuda-trace
# SPDX-License-Identifier: BSD-2-Clause
# zsh completion for cuda-trace: commands and options are asked from the tool.

local command= i
for ((i = 2; i < CURRENT; i++)); do
	if [[ ${words[i]} == -- ]]; then
		shift $i words
		((CURRENT -= i))
		_normal
		return
	fi
	[[ -n $command || ${words[i]} == -* ]] || command=${words[i]}
done
case ${words[CURRENT-1]} in
-p | --pid) _pids && return ;;
-u | --user) _users && return ;;
esac
if [[ -z $command || ${words[CURRENT]} == -* ]]; then
	compadd -- ${(f)"$(${words[1]} $command --list-words 2>/dev/null)"}
else
	_files
fi
