# SPDX-License-Identifier: BSD-2-Clause
# A false agent and a program that fires its probes, for what no true one would send.
EMITTER := $(B)/tests/agent/emitter/emit

$(B)/tests/agent/emitter/libcupti-usdt.so: $(B)/pic/tests/agent/emitter/probes.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-soname,libcupti-usdt.so -o $@ $^

$(EMITTER): $(B)/obj/tests/agent/emitter/emit.o $(B)/tests/agent/emitter/libcupti-usdt.so
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ '-Wl,-rpath,$$ORIGIN'

workloads: $(EMITTER)
