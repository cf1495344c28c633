# SPDX-License-Identifier: BSD-2-Clause
# The rules of docs/verdict.md over scripted counters.
VERDICT_UNIT := $(B)/tests/verdict/unit
workloads: $(VERDICT_UNIT)

$(VERDICT_UNIT): $(patsubst %,$(B)/obj/%.o,tests/verdict/unit cuda-trace/verdict cuda-trace/roofline cuda-trace/export_occupancy)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lm
