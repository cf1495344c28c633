# SPDX-License-Identifier: BSD-2-Clause
# Programs that leave the GPU idle for one cause each: $(B)/workloads/idle/NAME.

IDLE_PARTS := idle_program
IDLE_WORKLOADS := $(patsubst tests/workloads/idle/%.c,$(B)/workloads/idle/%, \
	$(filter-out $(IDLE_PARTS:%=tests/workloads/idle/%.c),$(wildcard tests/workloads/idle/*.c)))
IDLE_PART_OBJS := $(IDLE_PARTS:%=$(B)/obj/tests/workloads/idle/%.o)

# Their stacks are walked by frame pointers.
$(IDLE_WORKLOADS:$(B)/workloads/%=$(B)/obj/tests/workloads/%.o) $(IDLE_PART_OBJS): \
	OBJ_CFLAGS = -fno-omit-frame-pointer -fno-optimize-sibling-calls

ALL += $(IDLE_WORKLOADS)
workloads: $(IDLE_WORKLOADS)

$(IDLE_WORKLOADS): $(B)/workloads/idle/%: $(B)/obj/tests/workloads/idle/%.o $(IDLE_PART_OBJS) \
		$(WORKLOAD_LIB) $(SIMCUDA)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $< $(IDLE_PART_OBJS) $(WORKLOAD_LIB) -L$(SIMCUDA_DIR) -Wl,--as-needed -lcuda \
		-lpthread -ldl
