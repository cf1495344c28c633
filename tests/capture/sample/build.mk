# SPDX-License-Identifier: BSD-2-Clause
# The estimators of --sample against populations that are known.
SAMPLE_UNIT := $(B)/tests/capture/sample/unit
workloads: $(SAMPLE_UNIT)

$(SAMPLE_UNIT): $(B)/obj/tests/capture/sample/unit.o $(B)/obj/cuda-trace/base/cluster_estimate.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lm

# Which families --api asks for.
FAMILIES := $(B)/tests/capture/sample/families
workloads: $(FAMILIES)

$(FAMILIES): $(B)/obj/tests/capture/sample/families.o \
		$(patsubst %,$(B)/obj/cuda-trace/%.o,cli/event_groups cli/options cli/option_mistakes base/suggest base/text)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^
