#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The pages under docs/, README.md and the other pages at the top: what a reader may rely on.

load ../lib/helpers

setup() {
	cd "$TOP" || return 1
	git rev-parse --git-dir >/dev/null 2>&1 || skip "needs a git checkout"
}

# wider COLUMNS FILE...: the lines of these files that have more characters than that.
wider() {
	python3 - "$@" <<-'END'
		import sys
		for path in sys.argv[2:]:
		    for number, line in enumerate(open(path, encoding="utf-8"), 1):
		        if len(line.rstrip("\n")) > int(sys.argv[1]):
		            print(f"{path}:{number}: {len(line) - 1} characters")
	END
}

@test "README.md has at most 120 lines of at most 100 columns" {
	[ "$(wc -l <README.md)" -le 120 ]
	run -0 wider 100 README.md
	assert_output ""
}
