#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Who may open files that traced processes control, and how they are read. Looks at the tree only.

load ../lib/helpers

# users PATTERN FILE...: files of the tool with the pattern, other than these.
users() {
	local pattern=$1 excluded=()
	shift
	for file; do excluded+=(-e "cuda-trace/$file"); done
	cd "$TOP" && grep -rlE --include='*.[ch]' "$pattern" cuda-trace | grep -vxF -e none "${excluded[@]}"
}

@test "openat2() is called by rooted_path.c alone" {
	run -1 users 'SYS_openat2|struct open_how' base/rooted_path.c
	[ -e "$TOP/cuda-trace/base/rooted_path.c" ]
}

@test "paths in a process's root and mappings are opened by foreign_file.c and its lookups alone" {
	# The root itself: as a folder, for doctor's tree, and to compare it. injection_target.c gives the kernel the
	# mapping's path, as the file of a uprobe.
	run -1 users '"/proc/%[ud]/root|"[^"]*/map_files' foreign/foreign_file.c foreign/foreign_lookup.c \
		commands/doctor.c doctor/doctor_process.c inject/injection_target.c
	run -1 users '/root%s|/root/%s'
	grep -q '/map_files/' "$TOP/cuda-trace/foreign/foreign_file.c"
}

@test "libelf is used by nothing of the tool, and no file is mapped" {
	run -1 users '<(gelf|libelf|elfutils/[a-z]*)\.h>|ELF_C_READ|bpf_program__attach_usdt'
	# eBPF maps, and a picture's memory.
	run -1 users '[^a-z_]mmap\([^)]' live/aggregate.c
}
