#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Ways in which Python and its packagers lay libcupti out: the agent finds it where the loader does not.

load ../lib/helpers

setup() {
	requires root bpf sim
	cd "$BATS_TEST_TMPDIR" || return 1
	T=$PWD
	LISTEN=$B/tests/agent/listen
	LIBCUPTI=$(readlink -f "$B/simcuda/libcupti.so.13")
	LIBCUDART=$(readlink -f "$B/simcuda/libcudart.so.13")
	cp "$AGENT" agent-under-test.so
	export CUDA_INJECTION64_PATH=$T/agent-under-test.so
	# A driver without a toolkit beside it.
	mkdir -p driver
	cp -L "$B/simcuda/libcuda.so.1" driver/
	unset CUDA_HOME CUDA_PATH VIRTUAL_ENV CONDA_PREFIX
}

# used [FOLDER] CMD...: the libcupti that is used in CMD; with FOLDER in the loader's path.
used() {
	local path=$T/driver
	[ ! -d "$1" ] || { path+=:$1; shift; }
	timeout -k 5 60 "$LISTEN" -v "$CUDA_INJECTION64_PATH" status -- env LD_LIBRARY_PATH="$path" "$@" >out 2>&1 || fail "$(cat out)"
	sed -n 's/^\(search \)\{0,1\}\(.*\): used$/\2/p' out | sort -u
}

init='import ctypes; assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0'

@test "libcupti in a virtual environment that is not activated (CUDA 12's wheels, 13's, PyTorch's own) is found" {
	local below place
	python3 -m venv --without-pip venv
	for below in nvidia/cuda_cupti/lib nvidia/cu13/lib torch/lib; do
		place=$(echo "$T"/venv/lib/python3*/site-packages)
		rm -rf "${place:?}"/*
		place+=/$below
		mkdir -p "$place"
		cp "$LIBCUPTI" "$place/libcupti.so.13"
		run used venv/bin/python -c "$init"
		assert_output --partial "$below/libcupti.so.13"
	done
	# Called through the search path: the shell hands over the whole path.
	run used sh -c "PATH=$T/venv/bin:\$PATH; exec python -c '$init'"
	assert_output --partial torch/lib/libcupti.so.13
}

@test "libcupti in conda's environment that is not activated is found" {
	local place
	for place in lib targets/x86_64-linux/lib targets/sbsa-linux/lib; do
		[[ $place != *sbsa* || $(uname -m) = aarch64 ]] && [[ $place != *x86* || $(uname -m) = x86_64 ]] || continue
		rm -rf conda
		mkdir -p conda/bin conda/conda-meta "conda/$place"
		cp "$WORKLOADS/saxpy" conda/bin/
		cp "$LIBCUPTI" "conda/$place/libcupti.so.13"
		run used "$T/conda/bin/saxpy"
		assert_output --partial "conda/$place/libcupti.so.13"
	done
}

@test "libcupti with a hash in its name (auditwheel), beside a libcudart with one, is found" {
	mkdir -p wheel.libs
	cp "$LIBCUDART" wheel.libs/libcudart-0a1b2c3d.so.13.0.48
	ln -s libcudart-0a1b2c3d.so.13.0.48 wheel.libs/libcudart.so.13
	cp "$LIBCUPTI" wheel.libs/libcupti-1a2b3c4d.so.13
	run used "$T/wheel.libs" "$WORKLOADS/runtime"
	assert_output "$T/wheel.libs/libcupti-1a2b3c4d.so.13"
}

@test "libcupti with a hash in its name that the program has loaded is used, and no other" {
	mkdir -p wheel.libs venv
	cp "$LIBCUPTI" wheel.libs/libcupti-1a2b3c4d.so.13
	run used "$B/simcuda" python3 -c "import ctypes; ctypes.CDLL('$T/wheel.libs/libcupti-1a2b3c4d.so.13'); $init"
	assert_output "$T/wheel.libs/libcupti-1a2b3c4d.so.13"
}

@test "libcupti beside libcudart's folder, which is a symbolic link (uv, Bazel, Nix), is found" {
	mkdir -p store/runtime-13/lib site/nvidia/cuda_cupti/lib site/nvidia/cuda_runtime
	cp "$LIBCUDART" store/runtime-13/lib/libcudart.so.13
	ln -s "$T/store/runtime-13/lib" site/nvidia/cuda_runtime/lib
	cp "$LIBCUPTI" site/nvidia/cuda_cupti/lib/libcupti.so.13
	run used "$T/site/nvidia/cuda_runtime/lib" "$WORKLOADS/runtime"
	assert_output "$T/site/nvidia/cuda_cupti/lib/libcupti.so.13"
	# And where the whole package is one.
	rm -r site/nvidia/cuda_runtime
	ln -s "$T/store/runtime-13" site/nvidia/cuda_runtime
	run used "$T/site/nvidia/cuda_runtime/lib" "$WORKLOADS/runtime"
	assert_output "$T/site/nvidia/cuda_cupti/lib/libcupti.so.13"
}
