# SPDX-License-Identifier: BSD-2-Clause
# The simulated driver: $(B)/simcuda/{libcuda.so.1,libcudart.so.13,libcupti.so.13}, with the names
# that linking wants, and the same libcupti under the older majors' names in folders of their own.

SIMCUDA_DIR := $(B)/simcuda
SIM_CUDA_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard tests/simcuda/cuda/*.c))
SIM_CUPTI_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard tests/simcuda/cupti/*.c))
SIM_NCCL_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard tests/simcuda/nccl/*.c))
SIM_CUDART_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard tests/simcuda/cudart/*.c))
SIM_CUPTIS := $(SIMCUDA_DIR)/libcupti.so.13 $(SIMCUDA_DIR)/12/libcupti.so.12 \
	$(SIMCUDA_DIR)/11/libcupti.so.11.8
SIMCUDA_LIBS := $(SIMCUDA_DIR)/libcuda.so.1 $(SIMCUDA_DIR)/libcudart.so.13 $(SIM_CUPTIS) \
	$(SIMCUDA_DIR)/libnccl.so.2 $(SIMCUDA_DIR)/nvml/libnvidia-ml.so.1
SIM_INJECTED := $(SIMCUDA_DIR)/libinjected.so $(SIMCUDA_DIR)/libcounter.so
SIM_SELFTEST := $(SIMCUDA_DIR)/selftest
SIMCUDA := $(SIMCUDA_LIBS) $(SIM_INJECTED) $(SIM_SELFTEST)

# Stacks are walked through the simulation by frame pointers.
$(SIM_CUDA_OBJS) $(SIM_CUPTI_OBJS) $(SIM_CUDART_OBJS): PIC_CFLAGS = -fno-omit-frame-pointer
$(SIM_CUDA_OBJS) $(SIM_CUPTI_OBJS) $(SIM_CUDART_OBJS): tests/simcuda/build.mk

# As in Ubuntu's packages: functions begin with endbr64 and a push.
ifeq ($(BPF_ARCH),x86)
$(SIM_NCCL_OBJS): PIC_CFLAGS = -fcf-protection=full -fno-omit-frame-pointer -fno-optimize-sibling-calls
endif
$(SIM_NCCL_OBJS): tests/simcuda/build.mk

ALL += $(SIMCUDA)
.PHONY: simcuda
simcuda: $(SIMCUDA)

sim_link = $(LINK) -shared -Wl,-soname,$(notdir $@) -Wl,-z,nodelete -Wl,--no-undefined -o $@

$(SIMCUDA_DIR)/libcuda.so.1: $(SIM_CUDA_OBJS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(sim_link) $^ -lpthread -ldl
	$(Q)ln -sf $(@F) $(@D)/libcuda.so

$(SIM_CUPTIS): $(SIM_CUPTI_OBJS)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(sim_link) $^ -lpthread -ldl
	$(Q)ln -sf $(@F) $(@D)/libcupti.so

$(SIMCUDA_DIR)/libcudart.so.13: $(SIM_CUDART_OBJS) $(SIMCUDA_DIR)/libcuda.so.1
	$(call say,LD,$@)
	$(Q)$(sim_link) $(SIM_CUDART_OBJS) -L$(@D) -lcuda -lpthread -ldl
	$(Q)ln -sf $(@F) $(@D)/libcudart.so

$(SIMCUDA_DIR)/libnccl.so.2: $(SIM_NCCL_OBJS) $(SIMCUDA_DIR)/libcuda.so.1
	$(call say,LD,$@)
	$(Q)$(sim_link) $(SIM_NCCL_OBJS) -L$(@D) -lcuda -lpthread -lrt -ldl
	$(Q)ln -sf $(@F) $(@D)/libnccl.so

# In a folder of its own: for the tool, which shall find no other simulated library.
$(SIMCUDA_DIR)/nvml/libnvidia-ml.so.1: $(B)/pic/tests/simcuda/nvml/nvml.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) -Wl,-z,nodelete -Wl,--no-undefined -o $@ $<

# Injection libraries: injected says what the driver did with it, and is made to be unloaded, unlike
# the agent; counter is a plain CUPTI client that counts.
$(SIM_INJECTED): $(SIMCUDA_DIR)/lib%.so: $(B)/pic/tests/simcuda/%.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -o $@ $< -ldl

# A CUPTI client that checks the simulation, and runs on the real thing as well.
$(SIM_SELFTEST): $(B)/obj/tests/simcuda/selftest.o $(B)/workloads/libprogram.a \
		$(SIMCUDA_DIR)/libcuda.so.1
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) -L$(SIMCUDA_DIR) -lcuda -lpthread -ldl
