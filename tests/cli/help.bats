#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What the tool says about itself: --help, --version, manual pages, completion, one truth in all.

load ../lib/helpers

commands() {
	ct --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *.*/\1/p'
}

@test "cuda-trace --version prints the version of the tree" {
	run -0 ct --version
	if [ -e "$TOP/VERSION" ]; then
		assert_output "cuda-trace $(cat "$TOP/VERSION")"
	else
		assert_output --regexp '^cuda-trace [0-9]+\.[0-9]+\.[0-9]+$'
	fi
}

@test "cuda-trace (no arguments) prints its usage on stderr and exits 2" {
	run -2 --separate-stderr ct
	assert_output ""
	[[ $stderr == *"Usage: cuda-trace COMMAND"* ]]
}

@test "cuda-trace (unknown command) says so in one line and exits 2" {
	run -2 --separate-stderr ct frobnicate
	assert_output ""
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *frobnicate* ]]
}

@test "cuda-trace COMMAND --help names each option once" {
	for command in $(commands); do
		run -0 ct $command --help
		# Two rows of one name: only the first can ever be meant.
		twice=$(sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' <<<"$output" | sort | uniq -d)
		assert_equal "$command $twice" "$command "
		refute_line --regexp '^ +(-., )?--[a-z-]+[^] =[a-z-]'
		refute_line --regexp '^ +(-., )?--[a-z-]+\[[^=]'
	done
}

@test "cuda-trace COMMAND --help goes to stdout, fits 80 columns and ends with the manual page" {
	[ "$(commands | wc -l)" -ge 3 ]
	for command in "" $(commands); do
		run -0 --separate-stderr ct $command --help
		[ -z "$stderr" ]
		assert_output --partial EXAMPLES
		assert_line --index -1 "Manual page: cuda-trace${command:+-$command}(1)"
		[ "$(awk 'length > 80' <<<"$output")" = "" ] || fail "wider than 80: $(awk 'length > 80' <<<"$output")"
	done
}

@test "cuda-trace(1) lists the commands of main.c, all and no others, each with its page" {
	[ -e "$TOP/cuda-trace/main.c" ] || skip "needs the tool's sources"
	table=$(sed -n '/ commands\[\] = {/,/^};/s/^\t{"\([a-z]*\)", .*/\1/p' "$TOP/cuda-trace/main.c")
	[ "$(wc -w <<<"$table")" -ge 12 ]
	assert_equal "$(commands)" "$table"
	page=$(sed -n '/^# COMMANDS/,/^# GUIDE/s/^\*\([a-z]*\)\*$/\1/p' "$TOP/man/cuda-trace.1.scd")
	assert_equal "$page" "$table"
	for command in $table; do
		grep -q "cuda-trace-$command\*(1)" "$TOP/man/cuda-trace.1.scd" || fail "no reference to $command's page"
	done
}

@test "cuda-trace COMMAND (unknown option) says so in one line and exits 2" {
	for command in $(commands); do
		run -2 --separate-stderr ct "$command" --frobnicate
		assert_output ""
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == *frobnicate* ]]
	done
}

@test "manual pages (each command) exist, have an entry for each option, and options that exist" {
	man=${MAN:-$ROOT/usr/share/man}
	[ -d "$man" ] || man=/usr/share/man
	[ -n "$(find "$man/man1" -name 'cuda-trace.1*')" ]
	for command in $(commands); do
		page=$(find "$man/man1" -name "cuda-trace-$command.1*")
		[ -n "$page" ] || fail "no page for $command"
		# Bold words that begin with "--", as roff writes them.
		zcat -f "$page" | sed 's/\\fB/\n&/g; s/\\-/-/g' | sed -n 's/^\\fB\(--[a-z-]*\).*/\1/p' |
			sort -u >"$BATS_TEST_TMPDIR/page"
		ct "$command" --help | sed -n 's/^  \(-.,\| \{3\}\) \(--[a-z0-9-]*\).*/\2/p' | sort -u >"$BATS_TEST_TMPDIR/tool"
		run comm -13 "$BATS_TEST_TMPDIR/page" "$BATS_TEST_TMPDIR/tool"
		[ -z "${output/--help/}" ] || fail "cuda-trace-$command(1) lacks: $output"
	done
}

# consumer: bash | itself | commands and options to complete
@test "completion (bash) offers the commands and the options of a command" {
	complete_words() {
		PATH=$(dirname "$CUDA_TRACE"):$PATH bash -c '
			source "$1"; shift
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_cuda_trace
			printf "%s\n" "${COMPREPLY[@]}"' bash "$completion" "$@"
	}
	completion=$ROOT/usr/share/bash-completion/completions/cuda-trace
	[ -e "$completion" ] || completion=/usr/share/bash-completion/completions/cuda-trace
	run -0 complete_words cuda-trace sta
	assert_line stat
	run -0 complete_words cuda-trace stat --js
	assert_output --json
	# Values of options, elements of lists, and files only where a file is meant.
	run -0 complete_words cuda-trace stat --source ''
	assert_output "$(printf 'auto\ncupti\ndriver')"
	run -0 complete_words cuda-trace stat --source = d
	assert_output driver
	run -0 complete_words cuda-trace trace -e kernels,un
	assert_output kernels,unified
	run -0 complete_words cuda-trace top --sort me
	assert_output memory
	run -0 complete_words cuda-trace profile --replay ''
	assert_line application
	run -0 complete_words cuda-trace enable --howto sl
	assert_output slurm
	run -0 complete_words cuda-trace hel
	assert_output help
	run -0 complete_words cuda-trace help idle
	assert_output idle-gpu
	cd "$BATS_TEST_TMPDIR"
	: >a-file
	run -0 complete_words cuda-trace stat -o a-f
	assert_output a-file
}

# consumer: zsh, fish | itself | completions that they can parse
@test "completion (zsh and fish) parses" {
	requires zsh fish
	dir=$ROOT/usr/share
	[ -d "$dir" ] || dir=/usr/share
	zsh -n "$(find "$dir/zsh" -name _cuda-trace)"
	fish --no-execute "$dir/fish/vendor_completions.d/cuda-trace.fish"
	PATH=$(dirname "$CUDA_TRACE"):$PATH run -0 fish -c "source $dir/fish/vendor_completions.d/cuda-trace.fish
		complete -C 'cuda-trace sta'"
	assert_line --partial stat
	PATH=$(dirname "$CUDA_TRACE"):$PATH run -0 fish -c "source $dir/fish/vendor_completions.d/cuda-trace.fish
		complete -C 'cuda-trace stat --source d'"
	assert_line driver
	PATH=$(dirname "$CUDA_TRACE"):$PATH run -0 fish -c "source $dir/fish/vendor_completions.d/cuda-trace.fish
		complete -C 'cuda-trace help idle'"
	assert_line idle-gpu
}

@test "cuda-trace help TOPIC (each that --help lists) shows the page without links and comments" {
	run -0 --separate-stderr ct help
	topics=$(sed -n '/^Pages of the guide/,/^$/s/^  *\([a-z, -]*\)$/\1/p' <<<"$output" | tr -d ' ' | tr ',' '\n' | grep .)
	[ "$(wc -l <<<"$topics")" -ge 17 ]
	for topic in $topics; do
		run -0 --separate-stderr ct help "$topic"
		[ -z "$stderr" ]
		assert_line --index 0 --regexp '^# [A-Z]'
		refute_output --partial ']('
		refute_output --partial '<!--'
		refute_output --partial '**'
		refute_line --regexp '^```'
	done
	run -0 ct help cookbook/running
	assert_output "$(ct help running)"
	assert_line '    # cuda-trace list'
	if [ -e "$TOP/docs/guide/cookbook.md" ]; then
		for page in "$TOP"/docs/guide/*.md "$TOP"/docs/guide/cookbook/*.md; do
			grep -qx "$(basename "$page" .md)" <<<"$topics" || fail "no topic for $page"
		done
	fi
}

@test "cuda-trace help TOPIC (no such page, a slip) names the nearest and exits 2" {
	run -2 --separate-stderr ct help idle-gpus
	assert_output ""
	assert_equal "$stderr" "cuda-trace help: there is no command or page 'idle-gpus': did you mean idle-gpu? (see cuda-trace --help)"
	run -2 --separate-stderr ct help frobnicate
	[ "${#stderr_lines[@]}" = 1 ]
	run -0 ct help stat
	assert_line --index 0 "Usage: cuda-trace stat [OPTIONS] [--] PROGRAM [ARGUMENTS]"
}

@test "cuda-trace help TOPIC (on a terminal) goes through the pager" {
	requires script
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' '#!/bin/sh' 'cat >paged' 'echo by the pager' >pager
	chmod +x pager
	PAGER=./pager run -0 script -qec "$CUDA_TRACE help running" /dev/null
	assert_output --partial 'by the pager'
	diff paged <(ct help running)
	# Who leaves it early has read enough; without one the page is printed.
	PAGER='head -n 1' run -0 script -qec "$CUDA_TRACE help troubleshooting" /dev/null
	assert_output --partial '# Troubleshooting'
	PAGER='' run -0 script -qec "$CUDA_TRACE help running" /dev/null
		assert_output --partial '# A program that is already running'
}

@test "--complete (each row of values) gives words that the option takes" {
	run -0 ct stat --complete --source
	assert_output "$(printf 'auto\ncupti\ndriver')"
	for word in $(ct enable --complete --howto); do
		ct enable --howto "$word" >/dev/null
	done
	assert_equal "$(ct top --complete -s | head -1)" gpu
	run -1 ct stat --complete --output
	assert_output ''
	run -1 ct stat --complete --frobnicate
}
