#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What CONTRIBUTING.md says of style, as far as a program can see it. Looks at the tree only.

load ../lib/helpers

setup() {
	requires git
	cd "$TOP" || return 1
	[ -e .git ] || skip "needs a git checkout"
}

# ours PATTERN...: the tracked files that are there.
ours() {
	git ls-files -- "$@" | while IFS= read -r file; do [ ! -e "$file" ] || echo "$file"; done
}

# say LINES PATTERN: those of the files (standard input) that have it in their first LINES lines. Programs for each of two
# thousand files would take most of this suite's time.
say() {
	xargs awk -v lines="$1" -v pattern="$2" 'FNR <= lines && $0 ~ pattern { print FILENAME; nextfile } FNR > lines { nextfile }'
}

# silent LINES PATTERN: those that do not; there must be some files.
silent() {
	local files
	files=$(sort)
	[ -n "$files" ] || fail "no files"
	comm -23 <(echo "$files") <(say "$@" <<<"$files" | sort)
}

@test "C files match .clang-format (make format)" {
	requires clang-format
	ours '*.c' '*.h' | xargs clang-format --dry-run -Werror
}

@test "C files are at most 520 lines (the probe contract: 750), and none is named util, common, misc or helper" {
	run -0 ours '*.c' '*.h'
	long=$(xargs awk 'FNR == (FILENAME == "libcupti-usdt/probes.h" ? 751 : 521) { print FILENAME " is too long" }' <<<"$output")
	[ -z "$long" ] || fail "$long"
	run grep -E '(^|/|_)(util|utils|common|misc|helper|helpers|manager)\.[ch]$' <<<"$output"
	assert_output ""
}

@test "arrays (of the tool) grow by base/array_grow alone" {
	# What shrinks to fit does not grow.
	run git grep -nE '\brealloc(array)?\(' -- 'cuda-trace/*.[ch]' ':!cuda-trace/base/array_grow.c' \
		':!cuda-trace/recording/store_text.c'
	assert_output ""
}

@test "pictures (docs/guide) are named by a document, whole, and at most 300 kB" {
	run -0 ours 'docs/guide/*.png' 'docs/guide/*.svg'
	[ "${#lines[@]}" -ge 3 ]
	for picture in "${lines[@]}"; do
		[ "$(wc -c <"$picture")" -le 300000 ] || fail "$picture is too large"
		ours README.md 'docs/*.md' | xargs grep -qF "${picture#docs/}" || fail "no document shows $picture"
		case $picture in
		*.svg) xmllint --noout "$picture" ;;
		*.png) [ "$(head -c 8 "$picture" | tail -c 7 | head -c 3)" = PNG ] ;;
		esac
	done
	for name in $(ours README.md 'docs/*.md' | xargs grep -ohE '[a-z-]+\.(png|svg)\)' | tr -d ')' | sort -u); do
		ours "docs/*/$name" | grep -q . || fail "there is no picture $name"
	done
}

@test "scripts satisfy shellcheck" {
	requires shellcheck
	scripts=$(ours | say 1 '^#!/bin/(ba)?sh')
	[ "$(wc -l <<<"$scripts")" -ge 8 ]
	# shellcheck disable=SC2086 # one word a file
	shellcheck -S warning $scripts tests/lib/*.bash tests/doctor/*.bash
	# Of the tests only errors: bats' own variables and subshells make warnings of what is meant. Each test alone, under the
	# name FILE:LINE: the time for a file grows faster than the file.
	mkdir "$BATS_TEST_TMPDIR/tests"
	ours 'tests/*.bats' | xargs awk -v to="$BATS_TEST_TMPDIR/tests" 'FNR == 1 || /^@test / {
		close(part)
		part = FILENAME ":" FNR
		gsub("/", "_", part)
		part = to "/" part
	} { print >part }'
	cd "$BATS_TEST_TMPDIR/tests"
	find . -type f -print0 | xargs -0 shellcheck -S error -s bats -e SC2289
}

@test "files (each) say their licence in the first three lines" {
	run -0 ours
	for file in $output; do
		case $file in
		# What has no comments, or a form of its own, or is prose.
		LICENSE | LICENSES/* | VERSION | *.md | *.json | *.svg | *.png | *.txt | *.out | *.jsonl) continue ;;
		man/*.scd | man/links | .gitignore | .gitattributes | .clang-format | .editorconfig) continue ;;
		debian/rules | debian/tests/installed) ;;
		debian/* | etc/ld.so.conf.d/*) continue ;;
		esac
		echo "$file"
	done >"$BATS_TEST_TMPDIR/files"
	run -0 silent 3 'SPDX-License-Identifier: ' <"$BATS_TEST_TMPDIR/files"
	assert_output ""
}

@test "bpf/ (each file) may be taken under either licence" {
	run -0 silent 1 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' < <(ours bpf/)
	assert_output ""
}

@test "files (all) have no TODO, no trailing blanks, no endless lines, and end with a newline" {
	run git grep -InwE 'TODO|FIXME|XXX|HACK' -- ':!tests/tree/style.bats'
	assert_output ""
	# lintian's limit for a source package.
	run git grep -IlE '.{513}' -- ':!*.svg' ':!*.json'
	assert_output ""
	run git grep -nIE '[ 	]+$' -- ':!*.md' ':!docs/*' ':!tests/**/*.out'
	assert_output ""
	run -0 ours '*.[ch]' '*.sh' '*.mk' '*.bats' '*.awk' '*.scd' '*.sql'
	# The last byte of each.
	[ -z "$(xargs tail -q -c 1 <<<"$output" | tr -d '\n' | tr '\0' x)" ] ||
		for file in $output; do
			[ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || fail "$file: no newline at its end"
		done
}

@test "version (VERSION, debian/changelog, rpm spec, NEWS.md) is one" {
	version=$(cat VERSION)
	[ "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" = "$version" ]
	[ "$(sed -n 's/^Version: *//p' rpm/cuda-trace.spec)" = "$version" ]
	if [ -e NEWS.md ]; then
		grep -qE "^#+ .*\b${version//./\\.}\b" NEWS.md
	fi
}

@test "enum of commands (main.c, commands.h, files) is one" {
	run -0 sed -n 's/.*"\([a-z]*\)", ".*", cmd_\([a-z]*\)},.*/\1 \2/p' cuda-trace/main.c
	[ "${#lines[@]}" -ge 3 ]
	for line in "${lines[@]}"; do
		[ "${line% *}" = "${line#* }" ] || fail "main.c: $line"
		grep -q "^int cmd_${line% *}(" cuda-trace/commands/commands.h
		[ -e "man/cuda-trace-${line% *}.1.scd" ] || grep -q "^cuda-trace-${line% *}\.1 " man/links ||
			fail "no manual page for ${line% *}"
	done
}

@test "tests/run (AGAIN) runs what failed once more, and says which tests passed only then" {
	local name='fails once (a|b) [c] <d> 50% 1/2'
	# bats takes lines that begin with it for tests of this file.
	printf '%s\n' '@''test "passes" {' true '}' \
		'@''test "'"$name"'" {' "[ -e $BATS_TEST_TMPDIR/tried ] || { touch $BATS_TEST_TMPDIR/tried; false; }" '}' \
		'@''test "fails once" {' false '}' \
		'@''test "is skipped" {' 'skip "needs a reason"' '}' >"$BATS_TEST_TMPDIR/some.bats"
	some() {
		rm -f "$BATS_TEST_TMPDIR/tried"
		run env -u FILTER TAP="$BATS_TEST_TMPDIR" AGAIN="$1" tests/run "$BATS_TEST_TMPDIR/some.bats"
		assert_failure
	}
	# Without AGAIN, or if more tests failed than it allows, none is repeated.
	for again in "" 1; do
		some "$again"
		assert_line "1 passed, 2 failed, 1 skipped"
		refute_line --partial unsteady
	done
	some 2
	assert_line "unsteady: $BATS_TEST_TMPDIR/some.tap: $name"
	assert_line "failed: $BATS_TEST_TMPDIR/some.tap: fails once"
	assert_line "skipped: $BATS_TEST_TMPDIR/some.tap: is skipped: needs a reason"
	assert_line "2 passed, 1 failed, 1 skipped"
	sed -i 's/^false$/true/' "$BATS_TEST_TMPDIR/some.bats"
	run -0 env -u FILTER TAP="$BATS_TEST_TMPDIR" tests/run "$BATS_TEST_TMPDIR/some.bats"
}

@test "tests (a command that fails, whatever it is) are reported with the line that it is in, and its callers'" {
	local line where
	cat >"$BATS_TEST_TMPDIR/fails.bats" <<-END
		. $TOP/tests/lib/traces.bash
		inner() {
		    true
		    [ 1 = 2 ] # in inner
		}
	END
	# bats takes lines that begin with it for tests of this file.
	for line in 'false' '[ 1 = 2 ]' '[[ 1 = 2 ]]' '((1 == 2))' 'x=$(false)' 'run -0 false' 'inner'; do
		printf '%s\n' '@''test "'"$line"'" {' '    true' "    $line # wanted" '    true' '}' >>"$BATS_TEST_TMPDIR/fails.bats"
	done
	run -1 bats --tap "$BATS_TEST_TMPDIR/fails.bats"
	for where in $(grep -n '# wanted' "$BATS_TEST_TMPDIR/fails.bats" | cut -d: -f1); do
		assert_line --regexp "in test file .*fails\.bats, line $where\)"
	done
	assert_line --regexp "from function .inner. in file .*fails\.bats, line 4,"
}

@test "tests/run (two files of one name) refuses, as each would overwrite what the other one says" {
	mkdir "$BATS_TEST_TMPDIR/a"
	printf '%s\n' '@''test "passes" {' true '}' | tee "$BATS_TEST_TMPDIR/a/same.bats" >"$BATS_TEST_TMPDIR/same.bats"
	run -1 env -u FILTER TAP="$BATS_TEST_TMPDIR" tests/run "$BATS_TEST_TMPDIR"/same.bats "$BATS_TEST_TMPDIR"/a/same.bats
	assert_output 'tests/run: two files of one name: same.bats'
}

@test "tests/run (several files) counts its tests, runs them apart from each other, and says n of N" {
	requires root unshare
	# Each waits for the other one, and neither sees the other one's processes.
	for name in a b; do
		printf '%s\n' '@''test "is '$name'" {' "touch $BATS_TEST_TMPDIR/$name.there" \
			"for _ in \$(seq 100); do [ -e $BATS_TEST_TMPDIR/a.there ] && [ -e $BATS_TEST_TMPDIR/b.there ] && break; sleep 0.1; done" \
			"[ -e $BATS_TEST_TMPDIR/a.there ] && [ -e $BATS_TEST_TMPDIR/b.there ]" \
			'[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 40 ]' \
			'[[ $B == /tmp/cuda-trace-tests.* ]] && setpriv --reuid 65534 --clear-groups --regid 65534 test -x "$SIM"' '}' \
			>"$BATS_TEST_TMPDIR/$name.bats"
	done
	JOBS=2 run -0 env -u FILTER TAP="$BATS_TEST_TMPDIR" tests/run "$BATS_TEST_TMPDIR"/{a,b}.bats
	assert_line --partial "tests/run: 2 tests in 2 files, 2 at a time: about "
	assert_line --regexp "^ok 1/2 [ab]: is [ab]$"
	assert_line --regexp "^ok 2/2 [ab]: is [ab]$"
	assert_line "2 passed, 0 failed, 0 skipped"
}

@test "tests/run (a tracer of all programs meanwhile) says so" {
	requires root bpf sim
	printf '%s\n' '@''test "waits" {' "for _ in \$(seq 200); do [ ! -e \$WORK/watched ] || break; sleep 0.1; done" '}' \
		>"$BATS_TEST_TMPDIR/some.bats"
	start tool "$CUDA_TRACE" stat -a -d 60
	JOBS=1 run env -u FILTER TAP="$BATS_TEST_TMPDIR" tests/run "$BATS_TEST_TMPDIR/some.bats"
	assert_line --partial "ANOTHER TRACER LOOKED INTO ALL PROGRAMS OF THIS MACHINE"
}
