# SPDX-License-Identifier: BSD-2-Clause
# The test programs: $(B)/workloads/NAME, one NAME.c each. They are linked with the simulated
# libcuda.so.1 and carry no path to it: whichever is in front at run time is used.

WORKLOAD_LIB := $(B)/workloads/libprogram.a
WORKLOAD_PARTS := program kernels
WORKLOADS := $(patsubst tests/workloads/%.c,$(B)/workloads/%, \
	$(filter-out $(WORKLOAD_PARTS:%=tests/workloads/%.c),$(wildcard tests/workloads/*.c)))

$(WORKLOAD_LIB): $(WORKLOAD_PARTS:%=$(B)/obj/tests/workloads/%.o)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Their stacks are walked by frame pointers, and each of its calls must be one.
$(B)/obj/tests/workloads/stacks.o $(B)/obj/tests/workloads/graph-origins.o \
	$(B)/obj/tests/workloads/graph-changes.o $(B)/obj/tests/workloads/nvcc-stubs.o \
	$(WORKLOAD_PARTS:%=$(B)/obj/tests/workloads/%.o): \
	OBJ_CFLAGS = -fno-omit-frame-pointer -fno-optimize-sibling-calls
# And those of frameless and its library cannot be.
$(B)/obj/tests/workloads/frameless.o: \
	OBJ_CFLAGS = -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
$(B)/pic/tests/workloads/frameless/library.o: \
	PIC_CFLAGS = -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
$(WORKLOADS:$(B)/workloads/%=$(B)/obj/tests/workloads/%.o) \
	$(WORKLOAD_PARTS:%=$(B)/obj/tests/workloads/%.o): tests/workloads/build.mk

ALL += $(WORKLOADS)
workloads: $(WORKLOADS)

# Only what a program calls is taken from the libraries: no-cuda needs neither.
$(WORKLOADS): $(B)/workloads/%: $(B)/obj/tests/workloads/%.o $(WORKLOAD_LIB) $(SIMCUDA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< $(WORKLOAD_LIB) -L$(SIMCUDA_DIR) -Wl,--as-needed $(WORKLOAD_NEEDS) -lcuda \
		-lpthread -ldl

$(B)/workloads/libframeless.so $(B)/workloads/libslow-loading.so: $(B)/workloads/lib%.so: \
		$(B)/pic/tests/workloads/%/library.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -o $@ $<

# Likewise, with the names of PyTorch's functions.
$(B)/pic/tests/workloads/operators/library.o: \
	PIC_CFLAGS = -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
$(B)/workloads/liboperators.so: $(B)/pic/tests/workloads/operators/library.o $(SIMCUDA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -o $@ $< -L$(SIMCUDA_DIR) -lcuda -lpthread

ALL += $(B)/workloads/libframeless.so $(B)/workloads/libslow-loading.so $(B)/workloads/liboperators.so
workloads: $(B)/workloads/libframeless.so $(B)/workloads/libslow-loading.so $(B)/workloads/liboperators.so

$(B)/workloads/runtime $(B)/workloads/refused $(B)/workloads/windows: WORKLOAD_NEEDS = -lcudart
$(B)/workloads/ranks: WORKLOAD_NEEDS = -lnccl

workloads: $(WORKLOADS)
