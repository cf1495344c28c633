# SPDX-License-Identifier: BSD-2-Clause
TOOL := $(B)/cuda-trace
TOOL_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard cuda-trace/*.c))
TOOL_LIBS := $(shell $(PKG_CONFIG) --libs libbpf json-c sqlite3 2>/dev/null) -lelf -lz -lm -lstdc++ -lpthread
# top and metrics
TOOL_LIBS += $(shell $(PKG_CONFIG) --libs libmicrohttpd yaml-0.1 ncursesw 2>/dev/null) -lcrypt
ALL += $(TOOL)

# The skeletons must exist before the first compile; afterwards the .d files know who needs them.
$(TOOL_OBJS): | $(SKELETONS)
$(TOOL_OBJS): OBJ_CFLAGS = -DGUESTDIR='"$(guestdir)"'
# The only ones to know where things are installed: another prefix rebuilds these alone.
$(B)/obj/cuda-trace/targets.o $(B)/obj/cuda-trace/optin.o: $(B)/paths

$(TOOL): $(TOOL_OBJS)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ $(TOOL_LIBS)

# What the tool carries inside: the tables of a recording, the SQL of reports.
$(B)/embedded/schema.h: $(wildcard cuda-trace/schema/*.sql) mk/embed.awk
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)awk -f mk/embed.awk $(filter-out %.awk,$^) > $@

$(B)/embedded/reports.h: $(wildcard cuda-trace/report/*.sql) mk/embed.awk
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)awk -v list=embedded_reports -f mk/embed.awk $(filter-out %.awk,$^) > $@

$(TOOL_OBJS): | $(B)/embedded/schema.h $(B)/embedded/reports.h
