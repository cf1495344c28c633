#compdef cuda-trace
# SPDX-License-Identifier: BSD-2-Clause
# zsh completion for cuda-trace: commands and options as its --help prints them.

local -a found
local command= word i
for ((i = 2; i < CURRENT; i++)); do
	[[ ${words[i]} == -- ]] && { shift $i words; ((CURRENT -= i)); _normal; return }
	[[ -n $command || ${words[i]} == -* ]] || command=${words[i]}
done
if [[ -z $command && ${words[CURRENT]} != -* ]]; then
	found=(${(f)"$(${words[1]} --help 2>/dev/null |
		sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
	_describe -t commands 'cuda-trace command' found
elif [[ ${words[CURRENT]} == -* ]]; then
	found=(${(f)"$(${words[1]} $command --help 2>/dev/null |
		grep -oE -- '(^|[ ,])--?[A-Za-z0-9][A-Za-z0-9-]*' | tr -d ' ,')"})
	compadd -- $found
else
	case ${words[CURRENT-1]} in
	-p | --pid) _pids ;;
	-u | --user) _users ;;
	*) _files ;;
	esac
fi
