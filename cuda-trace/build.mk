# SPDX-License-Identifier: BSD-2-Clause
TOOL := $(B)/cuda-trace
TOOL_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard $(addsuffix /*.c,cuda-trace cuda-trace/* cuda-trace/*/*)))
TOOL_LIBS := $(shell $(PKG_CONFIG) --libs libbpf json-c 2>/dev/null) -lelf -lz -lstdc++ -lpthread -lm
# images in fatbins: profile
TOOL_LIBS += $(shell $(PKG_CONFIG) --libs liblz4 libzstd 2>/dev/null)
# top and metrics
TOOL_LIBS += $(shell $(PKG_CONFIG) --libs libmicrohttpd yaml-0.1 ncursesw 2>/dev/null) -lcrypt
# names of pods; without it there are none
TOOL_LIBS += $(shell $(PKG_CONFIG) --libs libnghttp2 2>/dev/null)
ALL += $(TOOL)
include cuda-trace/embed.mk

# The skeletons must exist before the first compile; afterwards the .d files know who needs them.
$(TOOL_OBJS): | $(SKELETONS)
$(TOOL_OBJS): OBJ_CFLAGS = -DAGENTDIR='"$(agentdir)"'
# The only ones to know where things are installed: another prefix rebuilds these alone.
$(B)/obj/cuda-trace/attach/agent_files.o $(B)/obj/cuda-trace/optin/optin.o: $(B)/paths

$(TOOL): $(TOOL_OBJS)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(TOOL_LIBS)
