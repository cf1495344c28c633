# SPDX-License-Identifier: BSD-2-Clause
# Who includes whom: awk -v list=mk/layers.list -f mk/layers.awk -f mk/check-layers.awk FILE...
# with the paths of sources from the top of the tree, whose #include lines are read, and the
# compilers' .d files, which also know what is included by way of others. Prints each violation.
FNR == 1 { source = "" }
FILENAME ~ /\.[ch]$/ {
	if ($0 ~ /^[ \t]*#[ \t]*include[ \t]*"/) {
		split($0, parts, "\"")
		if (!is_allowed(FILENAME, parts[2]))
			complain(FILENAME, parts[2])
	}
	next
}
# A .d file names its object, then the source, then what that includes, over several lines.
{
	for (i = 1; i <= NF; i++) {
		file = $i
		# Targets (the object; with -MP also each header on a line of its own).
		if (file == "\\" || file ~ /:$/)
			continue
		sub(/^\.\//, "", file)
		if (file ~ /\.c$/ && source == "")
			source = file
		else if (source != "" && !is_reachable(source, file))
			complain(source, file)
	}
}
END {
	if (!is_broken && !checked)
		quit("no includes seen: nothing was checked")
	exit bad > 0 || is_broken > 0
}

function complain(from, to) {
	if (!((from, to) in printed))
		printf "%s includes %s: %s/ may not\n", from, to, folder_of(from)
	printed[from, to] = 1
	bad++
}
