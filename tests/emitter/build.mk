# SPDX-License-Identifier: BSD-2-Clause
# A false guest and a program that fires its probes, for what no true one would send.
EMITTER := $(B)/tests/emitter/emit

$(B)/tests/emitter/libcupti-usdt.so: $(B)/pic/tests/emitter/probes.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-soname,libcupti-usdt.so -o $@ $^

$(EMITTER): $(B)/obj/tests/emitter/emit.o $(B)/tests/emitter/libcupti-usdt.so
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $^ '-Wl,-rpath,$$ORIGIN'

workloads: $(EMITTER)
