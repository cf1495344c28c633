# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Programs that have images of modules in their files, for `profile` to find lines of source in.

# make_images FUNCTION: inlined.o, an image of that function, and other.o, in which it stands one line further
# down; and ./fatbin, which packs them.
make_images() {
	sed "s/\\bouter\\b/$1/" "$TOP/tests/profile/inlined.s" >inlined.s
	sed 's/\.sleb128 11/.sleb128 12/' inlined.s >other.s
	${CC:-cc} -c -o inlined.o inlined.s
	${CC:-cc} -c -o other.o other.s
	${CC:-cc} -std=gnu11 -O1 -o fatbin "$TOP/tests/profile/fatbin.c" -llz4 -lzstd
}

# program IMAGE...: ./storm, with these images in it.
program() {
	./fatbin images "$@"
	objcopy --add-section .nv_fatbin=images "$WORKLOADS/launch-storm" storm
}

# attached_late OPTIONS...: profile of ./storm, attached when its modules are there already.
attached_late() {
	start storm "$SIM" env CUDA_INJECTION64_PATH="$AGENT" ./storm -s 30 -p 500
	# shellcheck disable=SC2154 # made by start
	wait_for 10 grep -qs libcupti "/proc/$storm_PID/maps"
	ready storm
	CUDA_TRACE_LIBCUPTI=${CHECKER:-$B/simcuda/libcupti.so.13} ct profile -p "$storm_PID" "$@" 2>err
	kill -0 "$storm_PID"
	kill "$storm_PID"
}
