# SPDX-License-Identifier: BSD-2-Clause
# From `readelf -wF` to lines as rules.c prints them.
/^ *LOC/ { columns = NF; for (i = 1; i <= NF; i++) name[i] = $i; next }
length($1) == 16 && $1 ~ /^[0-9a-f]+$/ && $2 ~ /^(r|exp)/ {
	rbp = "u"
	ra = "c-8"
	for (i = 3; i <= columns; i++) {
		if (name[i] == "rbp") rbp = $i
		if (name[i] == "ra") ra = $i
	}
	print $1, $2, rbp, ra
}
