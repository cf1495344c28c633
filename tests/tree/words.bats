#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# New text uses no retired words (mk/retired-words.list). Looks at the tree only.

load ../lib/helpers

setup() {
	requires git awk
	cd "$TOP" || return 1
	[ -e .git ] || skip "needs a git checkout"
}

# A repository with one file of each kind, and their words as the baseline.
tree() {
	mkdir -p "$BATS_TEST_TMPDIR/tree/mk"
	cp mk/retired-words mk/retired-words.list "$BATS_TEST_TMPDIR/tree/mk"
	cd "$BATS_TEST_TMPDIR/tree"
	git init -q
	printf '/* Nobody is %s, and there is no room. */\n' told >old.c
	echo 'plain words' >page.md
	git add .
	run -0 mk/retired-words --write
	assert_output "2 retired words, 2 in the baseline"
}

@test "words (each file of the tree) are not more of the retired ones than before" {
	run -0 mk/retired-words
	assert_output --partial "in the baseline"
}

@test "words (a retired one in new text) are refused, with their line" {
	tree
	for text in 'The tool is told.' 'int take_libcuda;' 'x = ring__has_room(1);' '#define MOST_NAMES 4' \
		'Dear reader' 'names__give(x)' 'is told told'; do
		echo "$text" >page.md
		run -1 mk/retired-words
		assert_line --partial "page.md has "
		assert_line "page.md:1: $text"
	done
	assert_line "page.md has 2 retired words, and had 0; see mk/retired-words.list for what to write instead:"
	# A new file has none at first.
	echo 'plain words' >page.md
	echo 'told' >new.bats
	git add .
	run -1 mk/retired-words
	assert_line "new.bats:1: told"
}

@test "words (ordinary ones, and names of the contracts) are accepted" {
	tree
	printf '%s\n' 'retold bedroom, mostly; most of it; stampsy; a held lock, a guesthouse' \
		'load cuda-trace/load=guest; jq .guest; guest_resident_kib' >page.md
	run -0 mk/retired-words
}

@test "words (a retired one, and an empty baseline) are refused, too" {
	tree
	echo 'plain words' >old.c
	run -0 mk/retired-words --update
	[ ! -s mk/retired-words-baseline.txt ]
	echo 'Nobody is told.' >page.md
	run -1 mk/retired-words
	assert_line "page.md:1: Nobody is told."
}

@test "words (fewer than before) lower the baseline, which they cannot raise" {
	tree
	printf '/* Nobody is %s. */\n' told >old.c
	run -0 mk/retired-words
	assert_output "1 retired words, 2 in the baseline"
	run -0 mk/retired-words --update
	assert_output "1 retired words, 1 in the baseline"
	printf '/* Nobody is %s, and there is no room. */\n' told >old.c
	run -1 mk/retired-words --update
	run -0 cat mk/retired-words-baseline.txt
	assert_output "1	old.c"
}
