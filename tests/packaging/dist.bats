#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# make dist: the tarball that a release is (install.bats builds it). And the licences of what is in it.

load ../lib/helpers

setup() {
	cd "$TOP" || return 1
	[ -e .git ] || skip "needs a git checkout"
}

@test "make dist (twice) makes the same tarball of the tree's own files, with its checksum" {
	for n in 1 2; do
		run -0 make -s dist B="$BATS_TEST_TMPDIR/$n"
	done
	name=cuda-trace-$(cat VERSION)
	cmp "$BATS_TEST_TMPDIR"/{1,2}/dist/"$name.tar.gz"
	cd "$BATS_TEST_TMPDIR/1/dist"
	sha256sum --check --quiet "$name.tar.gz.sha256"
	[ "$(ls)" = "$(printf '%s\n' "$name.tar.gz" "$name.tar.gz.sha256")" ]
	tar -tzf "$name.tar.gz" | grep -v '/$' | sed "s|^$name/||" | sort >files
	(cd "$TOP" && git ls-files -co --exclude-standard | while IFS= read -r file; do [ ! -e "$file" ] || echo "$file"; done) |
		sort | diff - files
}

@test "licences (SPDX, REUSE.toml, debian/copyright, LICENSES) are one" {
	# Each that a file names has its text, and the two are the only ones.
	run -0 bash -c "git grep -hoIE 'SPDX-License-Identifier: [A-Za-z0-9.-]+( OR [A-Za-z0-9.-]+)*' -- ':!tests/tree' ':!tests/packaging' |
		sed 's/.*: //' | sort -u"
	assert_output "$(printf '%s\n' BSD-2-Clause 'GPL-2.0-only OR BSD-2-Clause')"
	for name in BSD-2-Clause GPL-2.0-only; do
		[ -s "LICENSES/$name.txt" ]
		grep -q "^License: $name" debian/copyright
	done
	# Files under either licence are the same in all three places.
	either=$(git grep -lI 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' -- '*.[ch]' | grep -v ^bpf/ | sort | paste -sd' ')
	assert_equal "$(sed -n 's|^Files: bpf/\* ||p' debian/copyright)" "$either"
	assert_equal "$(sed -n 's|^path = \["bpf/\*\*", ||p' REUSE.toml | tr -d '",]')" "$either"
}
