# SPDX-License-Identifier: BSD-2-Clause
# What tests/agent/agent.bats runs: a consumer of the probes of its own, programs to live in, and unit
# tests that are linked with the agent's objects.

AGENT_LISTEN := $(B)/tests/agent/listen
AGENT_HOSTS := $(patsubst %,$(B)/tests/agent/%,calls ends manners)
AGENT_UNIT := $(B)/tests/agent/unit
AGENT_PROGRESS := $(B)/tests/agent/progress
AGENT_INNER_GRAPHS := $(B)/tests/agent/inner_graphs
AGENT_GATE := $(B)/tests/agent/gate
AGENT_BARRIER := $(B)/tests/agent/barrier
AGENT_CLAIMS := $(B)/tests/agent/claims
AGENT_TURNS := $(B)/tests/agent/turns
HOST_RELRO := $(B)/tests/agent/ends-relro
workloads: $(AGENT_LISTEN) $(AGENT_HOSTS) $(HOST_RELRO) $(AGENT_UNIT) $(AGENT_PROGRESS) \
	$(AGENT_INNER_GRAPHS) $(AGENT_GATE) $(AGENT_BARRIER) $(AGENT_CLAIMS) $(AGENT_TURNS)

$(B)/obj/tests/agent/listen.o: | $(B)/tests/agent/listen.skel.h
$(AGENT_LISTEN): $(B)/obj/tests/agent/listen.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lbpf -lelf -lz

$(AGENT_HOSTS): $(B)/tests/agent/%: $(B)/obj/tests/agent/%.o $(SIMCUDA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< -L$(SIMCUDA_DIR) -lcuda -lpthread -ldl

# All of its imports are bound at once, and their table is read-only.
$(HOST_RELRO): $(B)/obj/tests/agent/ends.o $(SIMCUDA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< -L$(SIMCUDA_DIR) -Wl,-z,now,-z,relro -lcuda -lpthread -ldl

$(AGENT_UNIT): $(B)/obj/tests/agent/unit.o \
		$(patsubst %,$(B)/pic/libcupti-usdt/%.o,emit/batches trace/activity_buffers base/clock base/launch_state profile/kernel_choice base/memory emit/interned_names emit/rings emit/sample_windows base/settings emit/probe_sites base/timestamps emit/status base/threads)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread -Wl,--wrap=status__lost

$(AGENT_PROGRESS): $(B)/obj/tests/agent/progress.o $(patsubst %,$(B)/pic/libcupti-usdt/%.o,base/clock base/thread_progress base/threads)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread

$(AGENT_INNER_GRAPHS): $(B)/obj/tests/agent/inner_graphs.o $(B)/pic/libcupti-usdt/base/inner_graphs.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^

$(AGENT_BARRIER): $(B)/obj/tests/agent/barrier.o $(patsubst %,$(B)/pic/libcupti-usdt/%.o,base/clock base/launch_state trace/switch_barrier)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread

$(AGENT_GATE): $(B)/obj/tests/agent/gate.o $(patsubst %,$(B)/pic/libcupti-usdt/%.o,base/clock base/launch_state profile/launch_gate base/timestamps base/threads)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread

$(AGENT_CLAIMS): $(B)/obj/tests/agent/claims.o $(patsubst %,$(B)/pic/libcupti-usdt/control/%.o,claim subscription)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^

$(AGENT_TURNS): $(B)/obj/tests/agent/turns.o $(B)/pic/libcupti-usdt/profile/metric_rotation.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^
