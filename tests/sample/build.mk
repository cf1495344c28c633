# SPDX-License-Identifier: BSD-2-Clause
# The estimators of --sample against populations that are known.
SAMPLE_UNIT := $(B)/tests/sample/unit
workloads: $(SAMPLE_UNIT)

$(SAMPLE_UNIT): $(B)/obj/tests/sample/unit.o $(B)/obj/cuda-trace/estimate.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lm

# Which families --api asks for.
FAMILIES := $(B)/tests/sample/families
workloads: $(FAMILIES)

$(FAMILIES): $(B)/obj/tests/sample/families.o $(B)/obj/cuda-trace/groups.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^
