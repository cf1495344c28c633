#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The pages of docs/guide: their commands run as they are written there, on the simulated driver, and
# print what the pages say. See pages.py.

load ../lib/helpers

setup() {
	[ -d "$TOP/docs/guide" ] || skip "needs the pages' sources"
	cd "$TOP/docs/guide" || return 1
}

# page PAGE: its commands print what it says.
page() {
	requires root bpf sim python3
	LC_ALL=C.UTF-8 python3 "$TOP/tests/guide/pages.py" check "$1"
}

@test "first-steps (commands as written) print what the page says" { page first-steps.md; }
@test "cookbook/slow-step (commands as written) print what the page says" { page cookbook/slow-step.md; }
@test "cookbook/idle-gpu (commands as written) print what the page says" { page cookbook/idle-gpu.md; }
@test "cookbook/memory-leak (commands as written) print what the page says" { page cookbook/memory-leak.md; }
@test "cookbook/which-kernel (commands as written) print what the page says" { page cookbook/which-kernel.md; }
@test "cookbook/which-line (commands as written) print what the page says" { page cookbook/which-line.md; }
@test "cookbook/failed-call (commands as written) print what the page says" { page cookbook/failed-call.md; }
@test "cookbook/containers (commands as written) print what the page says" { page cookbook/containers.md; }
@test "cookbook/several-gpus (commands as written) print what the page says" { page cookbook/several-gpus.md; }
@test "cookbook/prometheus (commands as written) print what the page says" { page cookbook/prometheus.md; }
@test "cookbook/compare (commands as written) print what the page says" { page cookbook/compare.md; }
@test "cookbook/counters (commands as written) print what the page says" { page cookbook/counters.md; }
@test "cookbook/running (commands as written) print what the page says" { page cookbook/running.md; }

@test "cookbook (each page) is listed, tested, says how to read the output and what next" {
	[ "$(find cookbook -name '*.md' | wc -l)" -ge 12 ]
	for name in cookbook/*.md first-steps.md; do
		grep -q "page $name; }" "$BATS_TEST_FILENAME" || fail "no test runs $name"
		grep -q 'How to read it' "$name" || fail "$name does not say how to read its output"
		[[ $name == first-steps.md ]] && continue
		grep -qF "($name)" cookbook.md || fail "cookbook.md does not list $name"
		grep -q 'What next' "$name" || fail "$name does not say what next"
	done
}

@test "pages.py (output that is not there, a missing option) fails" {
	requires root bpf sim python3
	page="$BATS_TEST_TMPDIR/page.md"
	say() {
		printf '%s\n' '`./train` is the test program `saxpy`.' '```console' "$@" '```' >"$page"
		run python3 "$TOP/tests/guide/pages.py" check "$page"
	}
	say '# cuda-trace stat -- ./train >/dev/null' 'Kernels by GPU time' '...' 'nothing was lost'
	assert_success
	say '# cuda-trace stat -- ./train >/dev/null' 'Kernels by GPU time' '...' 'nothing was found'
	assert_failure
	assert_output --partial 'nothing was found'
	# The end of the output may not be left out without a word.
	say '# cuda-trace stat -- ./train >/dev/null' 'Kernels by GPU time'
	assert_failure
	say '# cuda-trace stat --frobnicate -- ./train' '...'
	assert_failure
	assert_output --partial 'exit status 2'
}

@test "troubleshooting (each message that names a remedy, reason or loss) has it" {
	requires python3
	for kind in "doctor 60" "remedy 40" "attach 25" "counters 12" "inert 7" "lost 20"; do
		run -0 python3 "$TOP/tests/guide/messages.py" list "${kind% *}"
		[ "${#lines[@]}" -ge "${kind#* }" ] || fail "messages.py finds too few: $kind"
	done
	run -0 python3 "$TOP/tests/guide/messages.py" check troubleshooting.md
	# The table of doctor's findings is the one that the sources give.
	cp troubleshooting.md "$BATS_TEST_TMPDIR/page.md"
	python3 "$TOP/tests/guide/messages.py" update "$BATS_TEST_TMPDIR/page.md"
	diff -u troubleshooting.md "$BATS_TEST_TMPDIR/page.md" ||
		fail "docs/guide/troubleshooting.md is not current: tests/guide/messages.py update docs/guide/troubleshooting.md"
}

@test "troubleshooting (a page that lacks a message) is found" {
	requires python3
	grep -v 'CAP_SYS_ADMIN set uprobes' troubleshooting.md >"$BATS_TEST_TMPDIR/page.md"
	run -1 python3 "$TOP/tests/guide/messages.py" check "$BATS_TEST_TMPDIR/page.md"
	assert_output --partial 'this kernel lets only CAP_SYS_ADMIN set uprobes'
	refute_output --partial 'no BTF'
}

@test "cuda-trace(1) (each page of the guide) names it" {
	[ -e "$TOP/man/cuda-trace.1.scd" ] || skip "needs the manual pages' sources"
	for topic in $(ct help --complete); do
		grep -qE "^\*.*\b$topic\*|^\*$topic\*" "$TOP/man/cuda-trace.1.scd" || fail "cuda-trace(1) does not name $topic"
	done
}

@test "README.md and first-steps (each command) have options that exist" {
	for page in "$TOP/README.md" first-steps.md; do
		sed 's/`\(stat\|record\|report\) /`cuda-trace \1 /g' "$page" | grep -oE 'cuda-trace (help|[a-z]+) [^`#>&|]*' |
			sed 's/ -- .*//; s/ *$//' | sort -u >"$BATS_TEST_TMPDIR/commands"
		[ "$(grep -cE ' --?[a-z]' "$BATS_TEST_TMPDIR/commands")" -ge 5 ] || fail "$page: too few commands are found"
		while read -r _ command words; do
			ct --help | grep -qE "^  $command " || [ "$command" = help ] || continue
			for option in $(grep -oE '(^| )--?[a-z-]+' <<<"$words"); do
				ct "$command" --help | grep -qE -e "(^| )$option\b" || fail "$page: $command has no $option"
			done
		done <"$BATS_TEST_TMPDIR/commands"
	done
}

@test "manual pages (each command) begin with three examples, whose options exist, and output from the guide" {
	[ -e "$TOP/man/cuda-trace.1.scd" ] || skip "needs the manual pages' sources"
	cat cookbook/*.md >"$BATS_TEST_TMPDIR/guide"
	for page in "$TOP"/man/cuda-trace-*.1.scd; do
		command=$(basename "$page" .1.scd)
		[ "$(grep '^# ' "$page" | sed -n 3p)" = "# EXAMPLES" ] || fail "$page does not begin with examples"
		sed -n '/^# EXAMPLES/,/^# DESCRIPTION/p' "$page" >"$BATS_TEST_TMPDIR/examples"
		sed -n '1,/^```/p' "$BATS_TEST_TMPDIR/examples" | grep -P '^\t' >"$BATS_TEST_TMPDIR/three"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/three")" = 3 ] || fail "$page: not three examples before its output"
		# Each line of the output is one that a test of the guide has seen.
		sed -n '/^```/,/^```/{/^```/!p}' "$BATS_TEST_TMPDIR/examples" | grep . >"$BATS_TEST_TMPDIR/output" || fail "$page: no output"
		while IFS= read -r line; do
			grep -qxF -e "$line" "$BATS_TEST_TMPDIR/guide" || fail "$page has a line that no page of the guide has: $line"
		done <"$BATS_TEST_TMPDIR/output"
		for command in $(ct --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *.*/\1/p'); do
			for option in $(grep -P '^\t' "$BATS_TEST_TMPDIR/examples" | grep -oE "cuda-trace $command [^|]*" |
				sed 's/ -- .*//' | grep -oE ' --[a-z-]+' | sort -u); do
				ct "$command" --help | grep -qE -e "$option\b" || fail "$page: $command has no $option"
			done
		done
	done
}
