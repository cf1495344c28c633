# SPDX-License-Identifier: BSD-2-Clause
# The programs that tests/bench/run measures with.
BENCH_PROGRAMS := $(addprefix $(B)/bench/,launch-rate measure libbaseline.so)

.PHONY: bench-programs
workloads bench-programs: $(BENCH_PROGRAMS)

$(B)/bench/launch-rate: $(B)/obj/tests/bench/launch-rate.o $(B)/simcuda/libcuda.so.1
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lpthread

$(B)/bench/measure: $(B)/obj/tests/bench/measure.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^

$(B)/bench/libbaseline.so: $(B)/pic/tests/bench/baseline.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-z,nodelete -o $@ $^ -ldl -lpthread
$(B)/pic/tests/bench/baseline.o: PIC_CFLAGS = -fvisibility=default
