# SPDX-License-Identifier: BSD-2-Clause
# What the tool carries inside: tables of a recording, SQL of reports, pages and their scripts, and
# the code that protoc-c makes of the formats of pprof, Perfetto, OTLP, and Kubernetes' runtime interface.
PROTOC_C ?= protoc-c

EMBEDDED := $(addprefix $(B)/embedded/,schema.h reports.h web.h guide.h)

$(B)/embedded/schema.h: $(wildcard cuda-trace/recording/schema/*.sql) mk/embed.awk
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)awk -f mk/embed.awk $(filter-out %.awk,$^) > $@

$(B)/embedded/reports.h: $(wildcard cuda-trace/report/sql/*.sql) mk/embed.awk
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)awk -v list=embedded_reports -f mk/embed.awk $(filter-out %.awk,$^) > $@

$(B)/embedded/web.h: $(wildcard cuda-trace/export/web/*) mk/embed.awk
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)awk -f mk/embed.awk $(filter-out %.awk,$^) > $@

# In the order in which they are listed.
GUIDE_PAGES := $(patsubst %,docs/guide/%.md,first-steps cookbook troubleshooting) \
	$(sort $(wildcard docs/guide/cookbook/*.md)) $(patsubst %,docs/guide/%.md,fleet packaging)

$(B)/embedded/guide.h: $(GUIDE_PAGES) mk/embed.awk
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)awk -v list=embedded_guide -f mk/embed.awk $(filter-out %.awk,$^) > $@

# FORMATS: formats of protocol buffers that the tool writes and reads.
PROTOS := $(wildcard cuda-trace/export/*.proto cuda-trace/origin/*.proto cuda-trace/push/*.proto)
FORMATS := $(patsubst %.proto,$(B)/generated/%.pb-c,$(notdir $(PROTOS)))
vpath %.proto cuda-trace/export cuda-trace/origin cuda-trace/push
$(B)/generated/%.pb-c.c $(B)/generated/%.pb-c.h: %.proto
	$(call say,PROTOC,$(B)/generated/$*.pb-c.c)
	@mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=$(<D) --c_out=$(B)/generated $*.proto

FORMAT_OBJS := $(patsubst $(B)/%.c,$(B)/obj/%.o,$(addsuffix .c,$(FORMATS)))
$(FORMAT_OBJS): $(B)/obj/generated/%.o: $(B)/generated/%.c $(B)/generated/%.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -w -I$(B)/generated -c -o $@ $<

TOOL_OBJS += $(FORMAT_OBJS)
TOOL_LIBS += $(shell $(PKG_CONFIG) --libs sqlite3 libprotobuf-c 2>/dev/null) -lm
$(TOOL_OBJS): | $(EMBEDDED) $(addsuffix .h,$(FORMATS))
