# SPDX-License-Identifier: BSD-2-Clause
# The test programs: $(B)/workloads/NAME, one NAME.c each. They are linked with the simulated
# libcuda.so.1 and carry no path to it: whichever is in front at run time is used.

WORKLOAD_SHARED := $(B)/obj/tests/workloads/program.o $(B)/obj/tests/workloads/kernels.o
WORKLOADS := $(patsubst tests/workloads/%.c,$(B)/workloads/%,$(filter-out \
	tests/workloads/program.c tests/workloads/kernels.c,$(wildcard tests/workloads/*.c)))
ALL += $(WORKLOADS)
.PHONY: workloads
workloads: $(WORKLOADS)

$(B)/workloads/runtime: WORKLOAD_LIBS = -lcudart
$(B)/workloads/runtime: $(SIMCUDA)/libcudart.so.13
# libcuda is found at run time by dlopen() in this one.
$(B)/workloads/no-cuda: WORKLOAD_CUDA =
WORKLOAD_CUDA = -lcuda

$(B)/workloads/%: $(B)/obj/tests/workloads/%.o $(WORKLOAD_SHARED) $(SIMCUDA)/libcuda.so.1
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< $(WORKLOAD_SHARED) -L$(SIMCUDA) -Wl,--as-needed $(WORKLOAD_LIBS) \
		$(WORKLOAD_CUDA) -lpthread -ldl
