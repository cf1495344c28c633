# SPDX-License-Identifier: BSD-2-Clause
# feeder: drives the recording side without a session; throughput, crash and corruption tests.
# feeder-powercut: the same on a disk that forgets what was not synced.
FEEDER := $(B)/tests/recording/store/feeder
FEEDER_OBJS := $(patsubst %.c,$(B)/obj/%.o,tests/recording/store/feeder.c \
	$(wildcard $(addsuffix /*.c,$(addprefix cuda-trace/,base foreign origin recording symbols))) \
	$(addprefix cuda-trace/capture/,agent_state.c nccl_calls.c process.c) $(addprefix cuda-trace/proc/,cgroup.c mps_server.c process_stat.c python_name.c) \
	$(addprefix cuda-trace/collectives/,collectives.c comm_alignment.c comm_meetings.c graph_collectives.c kernel_halves.c nccl_comms.c)) \
	$(B)/obj/generated/cri.pb-c.o
POWERCUT_OBJS := $(FEEDER_OBJS) $(B)/obj/tests/recording/store/powercut.o
comma := ,
POWERCUT_LINK := $(patsubst %,-Wl$(comma)--wrap=%,open pwrite fdatasync fsync rename unlink)
workloads: $(FEEDER) $(FEEDER)-powercut

$(FEEDER): $(FEEDER_OBJS)
$(FEEDER)-powercut: $(POWERCUT_OBJS)
$(FEEDER) $(FEEDER)-powercut:
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(if $(filter %-powercut,$@),$(POWERCUT_LINK)) \
		$(shell $(PKG_CONFIG) --libs sqlite3 json-c libnghttp2 libprotobuf-c) -lelf -lz -lzstd -lstdc++ -lpthread -lm

$(POWERCUT_OBJS): | $(EMBEDDED)
