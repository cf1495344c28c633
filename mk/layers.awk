# SPDX-License-Identifier: BSD-2-Clause
# Reads mk/layers.list: awk -v list=mk/layers.list -f mk/layers.awk -f ... FILE...
# is_allowed(FROM, TO): may file FROM use file TO? is_reachable(): or does it use one that may?
BEGIN {
	while ((getline line < list) > 0)
		if (line !~ /^#/ && line != "")
			read_line(line)
	if (!folder_count || is_broken)
		quit(list ": " (is_broken ? "see above" : "no folder"))
}

function quit(text) {
	print "check-layers: " text
	is_broken = 1
	exit 1
}

# The first part of a path; the folder that a file is in, "cuda-trace/." for cuda-trace/main.c.
function top_of(path) {
	sub(/\/.*/, "", path)
	return path
}

function folder_of(file) {
	sub(/\/[^\/]*$/, "", file)
	return file == "cuda-trace" ? "cuda-trace/." : file
}

function read_line(line,    words, n, i, j, folder, to) {
	n = split(line, words, " ")
	folder = words[1]
	sub(/:$/, "", folder)
	folders[++folder_count] = folder
	is_folder[folder] = 1
	may[folder, folder] = reaches[folder, folder] = 1
	if (folder ~ /\// && folder !~ /\/base$/)
		add(folder, top_of(folder) "/base")
	for (i = 2; i <= n; i++) {
		to = words[i]
		if (to ~ /\.h$/)
			contract[folder, to] = 1
		else if (to != "*")
			add(folder, top_of(folder) "/" to)
		else
			for (j = 1; j < folder_count; j++)
				if (top_of(folders[j]) == top_of(folder) && folders[j] ~ /\//)
					add(folder, folders[j])
	}
}

function add(folder, to,    i) {
	if (!(to in is_folder) || to == folder) {
		printf "check-layers: %s names %s, which is not listed before it\n", folder, to
		is_broken = 1
		return
	}
	may[folder, to] = 1
	for (i = 1; i < folder_count; i++)
		if ((to, folders[i]) in reaches)
			reaches[folder, folders[i]] = 1
}

function is_allowed(from, to) {
	return decide(from, to, 0)
}

function is_reachable(from, to) {
	return decide(from, to, 1)
}

# What lies outside of the folders that are listed is not checked.
function decide(from, to, far,    a, b) {
	a = folder_of(from)
	b = folder_of(to)
	if (top_of(a) == "tests" || !(top_of(from) in is_folder) || !(top_of(to) in is_folder))
		return 1
	checked++
	if (!(a in is_folder))
		return 0
	if (top_of(from) != top_of(to))
		return (top_of(from), to) in contract
	if (b == top_of(to)) # a header of the top-level folder: its contract
		return to ~ /\.h$/
	return far ? (a, b) in reaches : (a, b) in may
}
