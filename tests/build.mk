# SPDX-License-Identifier: BSD-2-Clause
-include tests/simcuda/build.mk
-include tests/workloads/build.mk
-include tests/emitter/build.mk
-include tests/guest/build.mk
-include tests/store/build.mk
-include tests/guest/build.mk
-include tests/layout/build.mk
