# SPDX-License-Identifier: BSD-2-Clause
ORIGIN_TEST := $(B)/tests/origin/origin
ALL += $(ORIGIN_TEST)
$(ORIGIN_TEST): $(B)/obj/tests/origin/origin.o $(filter $(B)/obj/cuda-trace/origin/%,$(TOOL_OBJS)) \
	$(B)/obj/generated/cri.pb-c.o $(addprefix $(B)/obj/cuda-trace/base/,clock.o trusted_folder.o)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(shell $(PKG_CONFIG) --libs json-c libnghttp2 libprotobuf-c 2>/dev/null) -lpthread
