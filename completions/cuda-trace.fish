# SPDX-License-Identifier: BSD-2-Clause
# fish completion for cuda-trace: commands and options as its --help prints them.

function __cuda_trace_command
	for word in (commandline -opc)[2..-1]
		if not string match -q -- '-*' $word
			echo $word
			return
		end
	end
end

function __cuda_trace_commands
	cuda-trace --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __cuda_trace_options
	cuda-trace (__cuda_trace_command) --help 2>/dev/null |
		sed -n 's/^  \(-[A-Za-z],\| \{3\}\) \(--[a-z0-9-]*\).*/\1\n\2/p' | string match -r -- '-[A-Za-z0-9-]+'
end

# The values of the option before the cursor; of a list its last element.
function __cuda_trace_values
	set -l option (commandline -opc)[-1]
	set -l before (string match -r -- '.*,' (commandline -ct))
	cuda-trace (__cuda_trace_command) --complete $option 2>/dev/null | string replace -r '^' "$before"
end

complete -c cuda-trace -f -n 'string match -q -- "-*" (commandline -opc)[-1]; and count (__cuda_trace_values) >/dev/null' -a '(__cuda_trace_values)'
complete -c cuda-trace -f -n 'test -z (__cuda_trace_command)""' -a '(__cuda_trace_commands) help'
complete -c cuda-trace -f -n 'test (__cuda_trace_command)"" = help' -a '(cuda-trace help --complete 2>/dev/null)'
complete -c cuda-trace -n 'string match -q -- "-*" (commandline -ct)' -a '(__cuda_trace_options)'
