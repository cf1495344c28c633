# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Part of tests/gpu/run: after `cuda-trace enable`, and with no tool attached, the tools of others work as they do
# without it. Each row compares with the same program without the library.

# What this file shares with tests/gpu/run:
: "${work:?}" "${bundle:?}"

# both NAME FILTER COMMAND...: runs it with and without the library; FILTER (a command) turns its output into one line
both() {
	local name=$1 filter=$2 with without
	shift 2
	without=$(timeout 120 "$@" 2>&1 | tee "$OUT/others-without.txt" | eval "$filter")
	with=$(CUDA_INJECTION64_PATH=$(the_agent) timeout 120 "$@" 2>&1 | tee "$OUT/others-with.txt" | eval "$filter")
	row "asleep: $name" "$([ -n "$with" ] && [ "$with" = "$without" ] && echo 1 || echo 0)" "with: $with; without: $without"
}

part_others() {
	local home=$work/home nsys
	mkdir -p "$home"
	command -v compute-sanitizer >/dev/null && both compute-sanitizer "grep -o 'ERROR SUMMARY: .*'" \
		compute-sanitizer "$bundle/workloads/saxpy"
	command -v cuda-gdb >/dev/null && both cuda-gdb "grep -o 'exited normally'" \
		cuda-gdb -batch -ex run "$bundle/workloads/saxpy"
	# What comes with ncu collects, but cannot convert: then it is the collected file that has the kernel's name.
	nsys=$(command -v nsys || find /opt/nvidia -name nsys -type f -perm -u+x 2>/dev/null | head -n1)
	# shellcheck disable=SC2016 # for the inner shell
	[ -x "$nsys" ] && both nsys "tail -n 1" \
		sh -c 'rm -f "$1"/n.*; "$2" profile -t cuda -o "$1/n" "$3" >"$1/n.out" 2>&1; echo "$? $(grep ^expect "$1/n.out" | cut -c1-40) $(cat "$1"/n.* | grep -ac saxpy)"' sh \
		"$work" "$nsys" "$bundle/workloads/saxpy"
	both torch.profiler "tail -n 1" python3 tests/gpu/torch-count.py -n 50
	both jax.profiler "tail -n 1" python3 tests/gpu/jax-profiled.py
	both Proton "tail -n 1" python3 tests/gpu/proton-count.py
	if command -v ncu >/dev/null; then
		HOME=$home cuda-trace enable >"$OUT/others-enable.txt" 2>&1
		HOME=$home timeout 120 bash --login -ic "echo path=\$CUDA_INJECTION64_PATH; ncu --metrics sm__cycles_elapsed.max $bundle/workloads/saxpy" \
			>"$OUT/others-ncu.txt" 2>&1
		row "enabled: ncu in a login shell" "$(grep -q 'path=.*libcupti-usdt' "$OUT/others-ncu.txt" && grep -q sm__cycles_elapsed "$OUT/others-ncu.txt" &&
			echo 1 || echo 0)" "$(grep -m1 -E 'sm__cycles_elapsed|ERROR' "$OUT/others-ncu.txt" | xargs)"
	fi
}
