#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What is installed refers to nothing that is not: manual pages, --help, the pages in the documentation's folder.

load ../lib/helpers

DOC=$ROOT/usr/share/doc/cuda-trace MAN=$ROOT/usr/share/man

setup() {
	# Packages of a system, instead of the tree that `make check` installed.
	[ -d "$DOC" ] || DOC=/usr/share/doc/cuda-trace MAN=/usr/share/man
	[ -d "$DOC/docs/guide" ] || skip "the packages' pages are not there (installed without documentation?)"
}

# named FILE...: the pages that these texts name, by their path in the documentation's folder.
named() {
	zcat -f "$@" | sed 's/\\&//g; s/\\//g' | grep -oE '(/usr/share/doc/cuda-trace/)?\bdocs/[A-Za-z0-9_/.-]*[A-Za-z0-9]' |
		sed 's|^/usr/share/doc/cuda-trace/||' | sort -u
}

@test "manual pages and --help (each page that they name) have it installed" {
	run -0 named "$MAN"/man1/cuda-trace*.1* "$MAN"/man7/libcupti-usdt.7*
	[ "${#lines[@]}" -ge 3 ]
	for command in "" $(ct --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *.*/\1/p'); do
		# shellcheck disable=SC2086 # nothing, or one word
		ct $command --help
	done >"$BATS_TEST_TMPDIR/help"
	run -0 named "$BATS_TEST_TMPDIR/help"
	for page in $(named "$MAN"/man1/cuda-trace*.1* "$MAN"/man7/libcupti-usdt.7* "$BATS_TEST_TMPDIR/help"); do
		[ -e "$DOC/$page" ] || fail "$page is named and not installed"
	done
	# In manual pages as a path that the reader can open.
	if run -0 zgrep -hE '(^|[^/])docs/[a-z]' "$MAN"/man1/cuda-trace*.1* "$MAN"/man7/libcupti-usdt.7*; then
		fail "a path without its folder: $output"
	fi
}

@test "manual pages (those with tables) ask for tbl in their first line" {
	local page tables=0
	for page in "$MAN"/man1/cuda-trace*.1* "$MAN"/man7/libcupti-usdt.7*; do
		zcat -f "$page" >"$BATS_TEST_TMPDIR/page"
		if grep -q '^\.TS' "$BATS_TEST_TMPDIR/page"; then
			((++tables))
			assert_equal "$page $(head -n 1 "$BATS_TEST_TMPDIR/page")" "$page '\\\" t"
		else
			refute [ "$(head -c 1 "$BATS_TEST_TMPDIR/page")" = "'" ]
		fi
	done
	[ "$tables" -ge 6 ]
}

@test "manual pages (each that is referred to) are installed" {
	zcat -f "$MAN"/man1/cuda-trace*.1* "$MAN"/man7/libcupti-usdt.7* "$DOC"/docs/*/*.md "$DOC"/docs/*/*/*.md | tr -d '\\' |
		sed 's/fB\|fR\|fI\|\*\|_(/(/g' | grep -oE '\b(cuda-trace(-[a-z]+)?|libcupti-usdt)\(*[0-9]\)' | tr -d '()' | sort -u \
		>"$BATS_TEST_TMPDIR/pages"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/pages")" -ge 10 ]
	while read -r page; do
		[ -n "$(find "$MAN/man${page: -1}" -name "${page%?}.${page: -1}*")" ] || fail "no manual page ${page%?}(${page: -1})"
	done <"$BATS_TEST_TMPDIR/pages"
}

@test "installed pages (each link) lead to installed pages" {
	requires python3
	cat >"$BATS_TEST_TMPDIR/links.py" <<-'END'
		import os, re, sys
		count = 0
		for folder, _, names in os.walk(sys.argv[1]):
		    for name in names:
		        if not name.endswith(".md"):
		            continue
		        text = open(os.path.join(folder, name), encoding="utf-8").read()
		        for target in re.findall(r"\]\(([^)\s#]+)", re.sub(r"```.*?```", "", text, flags=re.S)):
		            count += "://" not in target
		            if "://" not in target and not os.path.exists(os.path.join(folder, target)):
		                print(f"{os.path.join(folder, name)}: {target} is not installed")
		assert count > 60, count
	END
	run -0 python3 "$BATS_TEST_TMPDIR/links.py" "$DOC"
	assert_output ""
}
