# SPDX-License-Identifier: BSD-2-Clause
# Who calls whom: nm -A -P OBJECT... |
#	awk -v list=mk/layers.list -f mk/layers.awk -f mk/check-symbols.awk
# of objects in build/obj and build/pic. Prints each symbol that a folder uses and that is defined
# in a folder which it may not use. With -v modules=FOLDER it prints instead which file of that
# top-level folder uses which, for tsort.
{
	object = $1
	sub(/:$/, "", object)
	sub(/^.*\/(obj|pic)\//, "", object)
	sub(/\.o$/, ".c", object)
	if ($3 == "U")
		uses[++use_count] = object SUBSEP $2
	else if ($3 ~ /^[A-Zvw]$/)
		defined[top_of(object), $2] = object
}
END {
	for (i = 1; i <= use_count; i++) {
		split(uses[i], parts, SUBSEP)
		check(parts[1], parts[2])
	}
	if (!is_broken && !checked)
		quit("no symbols seen: nothing was checked")
	exit bad > 0 || is_broken > 0
}

function check(user, symbol,    file) {
	if (!((top_of(user), symbol) in defined))
		return
	file = defined[top_of(user), symbol]
	if (modules == top_of(user) && file != user)
		print user, file
	if (is_allowed(user, file) || modules)
		return
	printf "%s uses %s of %s: %s/ may not\n", user, symbol, file, folder_of(user)
	bad++
}
