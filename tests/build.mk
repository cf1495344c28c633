# SPDX-License-Identifier: BSD-2-Clause
# Each folder that has something to build says what. Please keep sorted; the first two come first.
include tests/simcuda/build.mk
include tests/workloads/build.mk
include tests/workloads/idle/build.mk
include tests/bench/build.mk
include tests/capture/crowd/build.mk
include tests/capture/sharers/build.mk
include tests/agent/emitter/build.mk
include tests/agent/build.mk
include tests/agent/layout/build.mk
include tests/capture/sample/build.mk
include tests/origin/build.mk
include tests/recording/store/build.mk
include tests/profile/verdict/build.mk
include tests/profile/nvprof_names/build.mk
include tests/fuzz/build.mk
