# SPDX-License-Identifier: BSD-2-Clause
# Each folder that has something to build says what. Please keep sorted; the first two come first.
include tests/simcuda/build.mk
include tests/workloads/build.mk
include tests/bench/build.mk
include tests/crowd/build.mk
include tests/emitter/build.mk
include tests/guest/build.mk
include tests/layout/build.mk
include tests/sample/build.mk
include tests/store/build.mk
include tests/verdict/build.mk
include tests/old_names/build.mk
