# SPDX-License-Identifier: BSD-2-Clause
# Every name of the Event and Metric APIs, as --counters takes it.
NVPROF_NAMES_UNIT := $(B)/tests/profile/nvprof_names/unit
workloads: $(NVPROF_NAMES_UNIT)

$(NVPROF_NAMES_UNIT): $(patsubst %,$(B)/obj/%.o,tests/profile/nvprof_names/unit cuda-trace/profile/counters/counter_presets cuda-trace/profile/counters/nvprof_names)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^
