# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
SKELETONS := $(patsubst %.bpf.c,$(B)/%.skel.h,$(wildcard bpf/*.bpf.c))
# Compare-and-swap and exchange: instruction set v3, in every kernel since 5.12.
$(B)/bpf/aggregate.bpf.o: BPF_CFLAGS += -mcpu=v3
