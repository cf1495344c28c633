# SPDX-License-Identifier: BSD-2-Clause
# The programs that tests/bench/run measures with.
BENCH_PROGRAMS := $(addprefix $(B)/bench/,launch-rate measure steps switches libbaseline.so libgate.so)

.PHONY: bench-programs
workloads bench-programs: $(BENCH_PROGRAMS)

$(B)/bench/launch-rate: $(addprefix $(B)/obj/tests/bench/,launch-rate.o alone.o) \
		$(B)/simcuda/libcuda.so.1
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -ldl -lpthread

$(B)/bench/measure: $(B)/obj/tests/bench/measure.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^

$(B)/bench/steps: $(B)/obj/tests/bench/steps.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^

$(B)/bench/switches: $(B)/obj/tests/bench/switches.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread

$(B)/bench/libbaseline.so: $(addprefix $(B)/pic/tests/bench/,baseline.o alone.o)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -o $@ $^ -ldl -lpthread

# Needs libcupti.so.13, whichever the loader finds: what it does not define is found there.
$(B)/bench/libgate.so: $(addprefix $(B)/pic/tests/bench/,gate.o alone.o) $(B)/simcuda/libcupti.so.13
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -Wl,--no-as-needed -o $@ $^ -ldl -lpthread
$(B)/pic/tests/bench/baseline.o $(B)/pic/tests/bench/alone.o: PIC_CFLAGS = -fvisibility=default
