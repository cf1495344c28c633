# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom, read from the compilers' own .d files: awk -f mk/check-layers.awk FILE.d...
# Prints each violation and exits 1. What is allowed beside a folder's own headers:
#   bpf/         the probe contract
#   cuda-trace/  both contracts, and the generated skeletons
#   tests/       is not shipped, and may include anything
BEGIN {
	allowed["bpf", "libcupti-usdt/probes.h"] = 1
	allowed["bpf", "libcupti-usdt/stack_probes.h"] = 1
	allowed["cuda-trace", "libcupti-usdt/probes.h"] = 1
	allowed["cuda-trace", "libcupti-usdt/counter_request.h"] = 1
	allowed["cuda-trace", "libcupti-usdt/stack_probes.h"] = 1
	allowed["cuda-trace", "libcupti-usdt/api_families.h"] = 1
	for (i = split("bpf/event.h bpf/aggregate.h", contracts, " "); i; i--)
		allowed["cuda-trace", contracts[i]] = 1
	split("libcupti-usdt bpf cuda-trace tests", folders, " ")
	for (i in folders)
		known[folders[i]] = 1
}
# A .d file names its object, then the source, then what that includes, over several lines.
FNR == 1 { source = "" }
{
	for (i = 1; i <= NF; i++) {
		file = $i
		# Targets (the object; with -MP also each header on a line of its own).
		if (file == "\\" || file ~ /:$/)
			continue
		sub(/^\.\//, "", file)
		if (file ~ /\.c$/ && source == "")
			source = file
		else if (source != "")
			check(source, file)
	}
}
END {
	if (!checked) {
		print "check-layers: no includes seen: nothing was checked"
		exit 1
	}
	exit bad > 0
}

function folder_of(file) {
	return substr(file, 1, index(file, "/") - 1)
}

function check(source, file,    from, to) {
	from = folder_of(source)
	to = folder_of(file)
	if (!(from in known) || !(to in known))
		return
	checked++
	if (from == to || from == "tests" || (from, file) in allowed)
		return
	if (!((source, file) in told))
		printf "%s includes %s: %s/ may not\n", source, file, from
	told[source, file] = 1
	bad++
}
