# SPDX-License-Identifier: BSD-2-Clause
# feeder: drives the recording side without a session; throughput, crash and corruption tests.
FEEDER := $(B)/tests/store/feeder
FEEDER_OBJS := $(B)/obj/tests/store/feeder.o $(patsubst %.c,$(B)/obj/%.o,$(wildcard \
	cuda-trace/store*.c) $(addprefix cuda-trace/,names.c demangle.c process.c text.c \
	callstacks.c interned.c mappings.c perf_map.c python_code.c symbol_files.c symbols.c))
workloads: $(FEEDER)

$(FEEDER): $(FEEDER_OBJS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(shell $(PKG_CONFIG) --libs sqlite3) -lelf -lz -lstdc++ -lpthread

$(FEEDER_OBJS): | $(EMBEDDED)
