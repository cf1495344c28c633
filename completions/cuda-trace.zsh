#compdef cuda-trace
# SPDX-License-Identifier: BSD-2-Clause
# zsh completion for cuda-trace: commands and options as its --help prints them.

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
local values
if [[ -n $command && ${words[CURRENT-1]} == -* ]] &&
	values=$(${words[1]} $command --complete ${words[CURRENT-1]} 2>/dev/null); then
	_values -s , value ${(f)values}
	return
fi
if [[ ${words[CURRENT]} == -* ]]; then
	compadd -- ${(f)"$(${words[1]} $command --help 2>/dev/null |
		sed -n 's/^  \(-[A-Za-z],\| \{3\}\) \(--[a-z0-9-]*\).*/\1 \2/p' | tr -d , | tr -s ' ' '\n')"}
elif [[ -z $command ]]; then
	compadd -- ${(f)"$(${words[1]} --help 2>/dev/null |
		sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *.*/\1/p')"} help
elif [[ $command == help ]]; then
	compadd -- ${(f)"$(${words[1]} help --complete 2>/dev/null)"}
else
	_files
fi
