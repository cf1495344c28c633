# SPDX-License-Identifier: BSD-2-Clause
# Text files as C strings: for each file FOLDER/some-name.ext a constant embedded_some_name_ext.
# Files whose lines are one list (report/*.sql) are found by the table that cuda-trace/build.mk asks
# for with -v list=NAME.
function symbol(path) {
	sub(/.*\//, "", path)
	gsub(/[^A-Za-z0-9]/, "_", path)
	return "embedded_" path
}
BEGIN {
	print "/* Made by mk/embed.awk. */"
	print "#pragma GCC diagnostic ignored \"-Woverlength-strings\""
}
FNR == 1 {
	if (NR > 1)
		print ";"
	print "static const char " symbol(FILENAME) "[] __attribute__((unused)) ="
	names[++count] = FILENAME
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	print "\t\"" $0 "\\n\""
}
END {
	if (count)
		print ";"
	if (list == "")
		exit
	print "static const struct { const char *name, *text; } " list "[] __attribute__((unused)) = {"
	for (i = 1; i <= count; i++) {
		name = names[i]
		sub(/.*\//, "", name)
		sub(/\.[^.]*$/, "", name)
		print "\t{ \"" name "\", " symbol(names[i]) " },"
	}
	print "};"
}
