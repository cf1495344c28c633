# SPDX-License-Identifier: BSD-2-Clause
# fish completion for cuda-trace: commands and options are asked from the tool.

function __cuda_trace_command
	for word in (commandline -opc)[2..-1]
		if not string match -q -- '-*' $word
			echo $word
			return
		end
	end
end

complete -c cuda-trace -f -n 'test -z (__cuda_trace_command)""' -a '(cuda-trace --list-words)'
complete -c cuda-trace -n 'string match -q -- "-*" (commandline -ct)' \
	-a '(cuda-trace (__cuda_trace_command) --list-words)'
