# SPDX-License-Identifier: BSD-2-Clause
# feeder: drives the recording side without a session; throughput, crash and corruption tests.
# feeder-powercut: the same on a disk that forgets what was not synced.
FEEDER := $(B)/tests/store/feeder
FEEDER_OBJS := $(B)/obj/tests/store/feeder.o $(patsubst %.c,$(B)/obj/%.o,$(wildcard \
	cuda-trace/store*.c) $(addprefix cuda-trace/,names.c demangle.c process.c text.c \
	callstacks.c interned.c mappings.c perf_map.c python_code.c states.c symbol_files.c \
	symbols.c))
POWERCUT_OBJS := $(FEEDER_OBJS) $(B)/obj/tests/store/powercut.o
comma := ,
POWERCUT_LINK := $(patsubst %,-Wl$(comma)--wrap=%,open pwrite fdatasync fsync rename unlink)
workloads: $(FEEDER) $(FEEDER)-powercut

$(FEEDER): $(FEEDER_OBJS)
$(FEEDER)-powercut: $(POWERCUT_OBJS)
$(FEEDER) $(FEEDER)-powercut:
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(if $(filter %-powercut,$@),$(POWERCUT_LINK)) \
		$(shell $(PKG_CONFIG) --libs sqlite3) -lelf -lz -lstdc++ -lpthread

$(POWERCUT_OBJS): | $(EMBEDDED)
