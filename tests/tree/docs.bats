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

@test "README.md and first-steps (the first command that answers something) come within 30 seconds of reading" {
	for page in README.md docs/guide/first-steps.md; do
		words=$(awk '/^(# )?cuda-trace stat .*-- / { exit } { words += NF } END { print words + 0 }' $page)
		# 120 words, at 240 a minute.
		[ "$words" -le 120 ] || fail "$page: $words words before the first cuda-trace stat"
	done
}

@test "pages (docs) have lines of at most 110 columns" {
	run -0 git ls-files 'docs/*.md'
	[ "${#lines[@]}" -ge 30 ]
	run -0 wider 110 "${lines[@]}"
	assert_output ""
}

@test "pages (each link to a file of the tree) lead somewhere" {
	cat >"$BATS_TEST_TMPDIR/links.py" <<-'END'
		import os, re, sys
		for page in sys.argv[1:]:
		    text = re.sub(r"```.*?```", "", open(page, encoding="utf-8").read(), flags=re.S)
		    for target in re.findall(r"\]\(([^)\s]+)\)", text):
		        if "://" in target:
		            continue
		        path, _, anchor = target.partition("#")
		        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
		        if not os.path.exists(path):
		            print(f"{page}: there is no {target}")
		        elif anchor and path.endswith(".md"):
		            heads = re.findall(r"^#+ (.*)$", open(path, encoding="utf-8").read(), flags=re.M)
		            if anchor not in [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]:
		                print(f"{page}: no heading for {target}")
	END
	# shellcheck disable=SC2046 # one word a page
	run -0 python3 "$BATS_TEST_TMPDIR/links.py" $(git ls-files '*.md')
	assert_output ""
}

@test "docs/measurements (each number of its page of results) stands in a notebook or among the raw figures" {
	cat >"$BATS_TEST_TMPDIR/numbers.py" <<-'END'
		import re, subprocess
		listed = subprocess.run(["git", "ls-files", "docs/measurements"], capture_output=True, text=True).stdout.split()
		page = "docs/measurements/README.md"
		known = " ".join(open(path, encoding="utf-8").read() for path in listed
		                 if path != page and path.endswith((".md", ".json", ".txt")))
		known = set(re.findall(r"-?\d[\d,]*(?:\.\d+)?", known))
		count = 0
		for line in open(page, encoding="utf-8"):
		    cells = [cell.strip() for cell in line.split("|")]
		    if len(cells) == 9 and cells[3] not in ("measured", "---"):
		        for number in re.findall(r"-?\d[\d,]*(?:\.\d+)?", cells[3]):
		            number = number.rstrip(",")
		            count += 1
		            if number not in known:
		                print(f"{number}: {line.strip()}")
		assert count > 60, count
	END
	run -0 python3 "$BATS_TEST_TMPDIR/numbers.py"
	assert_output ""
}
