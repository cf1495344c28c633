# SPDX-License-Identifier: BSD-2-Clause
# Speaks the probe contract, as processes whose shares of a GPU are known.
SHARERS := $(B)/tests/capture/sharers/sharers

$(SHARERS): $(B)/obj/tests/capture/sharers/sharers.o $(B)/obj/tests/capture/sharers/turns.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^

workloads: $(SHARERS)
