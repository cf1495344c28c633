# SPDX-License-Identifier: BSD-2-Clause
# A program that speaks the probe contract, as a crowd of processes with many names and no CUDA.
CROWD := $(B)/tests/capture/crowd/crowd

$(CROWD): $(B)/obj/tests/capture/crowd/crowd.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread

workloads: $(CROWD)
