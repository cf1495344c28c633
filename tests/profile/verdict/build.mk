# SPDX-License-Identifier: BSD-2-Clause
# The rules of docs/reference/verdict.md over scripted counters.
VERDICT_UNIT := $(B)/tests/profile/verdict/unit
workloads: $(VERDICT_UNIT)

$(VERDICT_UNIT): $(patsubst %,$(B)/obj/%.o,tests/profile/verdict/unit cuda-trace/profile/counters/verdict cuda-trace/profile/counters/roofline cuda-trace/profile/counters/occupancy)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lm
