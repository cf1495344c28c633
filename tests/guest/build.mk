# SPDX-License-Identifier: BSD-2-Clause
# What tests/guest.bats runs: a consumer of the probes of its own, programs to live in, and unit
# tests that are linked with the guest's objects.

GUEST_LISTEN := $(B)/tests/guest/listen
GUEST_HOSTS := $(patsubst %,$(B)/tests/guest/%,calls ends manners)
GUEST_UNIT := $(B)/tests/guest/unit
GUEST_GATE := $(B)/tests/guest/gate
GUEST_TURNS := $(B)/tests/guest/turns
workloads: $(GUEST_LISTEN) $(GUEST_HOSTS) $(GUEST_UNIT) $(GUEST_GATE) $(GUEST_TURNS)

$(B)/obj/tests/guest/listen.o: | $(B)/tests/guest/listen.skel.h
$(GUEST_LISTEN): $(B)/obj/tests/guest/listen.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lbpf -lelf -lz

$(GUEST_HOSTS): $(B)/tests/guest/%: $(B)/obj/tests/guest/%.o $(SIMCUDA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< -L$(SIMCUDA_DIR) -lcuda -lpthread -ldl

$(GUEST_UNIT): $(B)/obj/tests/guest/unit.o \
		$(patsubst %,$(B)/pic/libcupti-usdt/%.o,batches buffers clock hot kernel_choice memory names rings sampling settings sites stamps status threads)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread -Wl,--wrap=status__lost

$(GUEST_GATE): $(B)/obj/tests/guest/gate.o $(patsubst %,$(B)/pic/libcupti-usdt/%.o,clock hot launch_gate stamps threads)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread

$(GUEST_TURNS): $(B)/obj/tests/guest/turns.o $(B)/pic/libcupti-usdt/metric_turns.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^
