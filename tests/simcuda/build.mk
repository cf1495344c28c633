# SPDX-License-Identifier: BSD-2-Clause
# The simulated driver: $(B)/simcuda/{libcuda.so.1,libcudart.so.13,libcupti.so.13}, with the names
# that linking wants, and the same libcupti under the older majors' names in folders of their own.

SIMCUDA := $(B)/simcuda
SIM_CUDA_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard tests/simcuda/cuda/*.c))
SIM_CUPTI_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard tests/simcuda/cupti/*.c))
SIM_CUDART_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard tests/simcuda/cudart/*.c))
SIM_LIBS := $(SIMCUDA)/libcuda.so.1 $(SIMCUDA)/libcupti.so.13 $(SIMCUDA)/12/libcupti.so.12 \
	$(SIMCUDA)/11/libcupti.so.11.8
ALL += $(SIM_LIBS)
.PHONY: simcuda
simcuda: $(SIM_LIBS)

sim_link = $(LINK) -shared -Wl,-soname,$(notdir $@) -Wl,-z,nodelete -Wl,--no-undefined -o $@

$(SIMCUDA)/libcuda.so.1: $(SIM_CUDA_OBJS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(sim_link) $^ -lpthread -ldl
	$(Q)ln -sf $(@F) $(@D)/libcuda.so

$(SIMCUDA)/libcupti.so.13 $(SIMCUDA)/12/libcupti.so.12 $(SIMCUDA)/11/libcupti.so.11.8: $(SIM_CUPTI_OBJS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(sim_link) $^ -lpthread -ldl
	$(Q)ln -sf $(@F) $(@D)/libcupti.so

$(SIMCUDA)/libcudart.so.13: $(SIM_CUDART_OBJS) $(SIMCUDA)/libcuda.so.1
	$(call say,LD,$@)
	$(Q)$(sim_link) $(SIM_CUDART_OBJS) -L$(@D) -lcuda -lpthread -ldl
	$(Q)ln -sf $(@F) $(@D)/libcudart.so

# A CUPTI client that checks the simulation, and runs on the real thing as well.
SIM_SELFTEST := $(SIMCUDA)/selftest
ALL += $(SIM_SELFTEST)

$(SIM_SELFTEST): $(B)/obj/tests/simcuda/selftest.o $(B)/obj/tests/workloads/program.o \
		$(B)/obj/tests/workloads/kernels.o $(SIMCUDA)/libcuda.so.1
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) -L$(SIMCUDA) -lcuda -lpthread -ldl
