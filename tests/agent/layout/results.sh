#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: results.sh INCLUDE: every result of cuda.h and driver_types.h must be in cuda-trace/base/result_names.c,
# by its own number and name. What a toolkit does not have (yet, or any more) is not looked at.
set -u
cd "$(dirname "$0")/../../.." || exit 1
missing=$({
	sed -n 's/^ *\(CUDA_SUCCESS\|CUDA_ERROR_[A-Z0-9_]*\) *= *\([0-9]*\),\{0,1\}.*/{\2, "\1", /p' "$1/cuda.h"
	sed -n '/enum .*cudaError$/,/^}/s/^ *\(cuda[A-Za-z0-9]*\) *= *\([0-9]*\),\{0,1\}.*/{\2,.* "\1"}/p' "$1/driver_types.h"
} | while read -r wanted; do
	grep -q "$wanted" cuda-trace/base/result_names.c || echo "$wanted"
done)
[ -z "$missing" ] && exit
echo "cuda-trace/base/result_names.c lacks: $missing" >&2
exit 1
