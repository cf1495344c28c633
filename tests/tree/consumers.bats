#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/reference/consumers.md: which programs read our outputs, by the tests that stand for them.

load ../lib/helpers

setup() {
	cd "$TOP" || return 1
}

@test "consumers (the list in docs/reference) is that of the tests" {
	run -0 mk/consumers --check
}

@test "consumers (tests that failed, were skipped, did not run, are new) change the list, and say so" {
	local dir=$BATS_TEST_TMPDIR
	mkdir -p "$dir/tests/one" "$dir/tap"
	export TESTS=$dir/tests TAP=$dir/tap FILE=$dir/table.md
	printf '%s\n' '# consumer: alpha | itself | all' '@test "a (b|c) works" {' '# consumer: beta | reader | some' \
		'@test "d is read" {' '# consumer: gamma | itself | more' '@test "e is read" {' >"$dir/tests/one/f.bats"
	printf '%s\n' 1..2 'ok 1 a (b|c) works' 'ok 2 d is read # skip needs beta' >"$dir/tap/f.tap"
	run -0 mk/consumers --update
	listed() {
		grep -A 2 -F -e "- **$1" "$FILE" | diff <(printf '%s\n' "- **$1" "  - verdict: $2" "  - test: one/f.bats: $3") -
	}
	listed 'alpha** (itself): all' works 'a (b|c) works'
	listed 'beta** (reader): some' 'not run: needs beta' 'd is read'
	listed 'gamma** (itself): more' 'not run' 'e is read'
	# What was skipped there may have run here.
	printf '%s\n' 1..2 'ok 1 a (b|c) works' 'ok 2 d is read' >"$dir/tap/f.tap"
	run -0 mk/consumers --check
	printf '%s\n' 1..1 'not ok 1 a (b|c) works' >"$dir/tap/f.tap"
	run -1 mk/consumers --update
	assert_output --partial 'alpha'
	run -1 mk/consumers --check
	printf '%s\n' '# consumer: delta | itself | new' '@test "f is read" {' >>"$dir/tests/one/f.bats"
	printf '%s\n' 1..1 'ok 1 a (b|c) works' >"$dir/tap/f.tap"
	sed -i 's/[*]*fails[*]*/works/' "$FILE"
	run -1 mk/consumers --check
	assert_output --partial 'delta'
}
