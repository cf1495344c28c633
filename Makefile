# SPDX-License-Identifier: BSD-2-Clause
# The goals. How things are made is in mk/rules.mk, what a packager may set in mk/config.mk,
# which files make what in each folder's build.mk.

all:

include mk/config.mk
include mk/rules.mk
include libcupti-usdt/build.mk
include bpf/build.mk
include cuda-trace/build.mk
include tests/build.mk
-include man/build.mk
-include mk/install.mk
-include mk/package.mk
-include mk/check.mk

.PHONY: all clean
all: $(ALL)

clean:
	$(Q)rm -rf $(B)

-include $(shell [ -d $(B) ] && find $(B) -name '*.d')
