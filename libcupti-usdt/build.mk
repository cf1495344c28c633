# SPDX-License-Identifier: BSD-2-Clause
# The agent: one shared object, one exported symbol, nothing of NVIDIA's linked.

AGENT := $(B)/libcupti-usdt.so
AGENT_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(filter-out libcupti-usdt/nvtx-entry/%,$(wildcard libcupti-usdt/*.c libcupti-usdt/*/*.c)))
ALL += $(AGENT)
# Who walks the stack of a launch comes through here. Two fields are not put together in a vector's
# register, whose constants would be one more line of memory in each launch.
AGENT_CFLAGS := -fno-omit-frame-pointer -fno-tree-slp-vectorize -include libcupti-usdt/base/glibc.h
$(AGENT_OBJS): PIC_CFLAGS = $(AGENT_CFLAGS)
$(AGENT_OBJS): libcupti-usdt/build.mk

$(AGENT): $(AGENT_OBJS) libcupti-usdt/libcupti-usdt.map
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,libcupti-usdt.so -Wl,-z,nodelete,-z,now,-z,relro \
		-Wl,--no-undefined -Wl,--version-script=libcupti-usdt/libcupti-usdt.map \
		-o $@ $(AGENT_OBJS) -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2

# Its companion for NVTX: the same search for libcupti, another entry.
NVTX_ENTRY := $(B)/libcupti-usdt-nvtx.so
NVTX_ENTRY_OBJS := $(patsubst %.c,$(B)/pic/%.o,$(wildcard libcupti-usdt/nvtx-entry/*.c)) $(AGENT_OBJS)
ALL += $(NVTX_ENTRY)
$(NVTX_ENTRY_OBJS): PIC_CFLAGS = $(AGENT_CFLAGS)

$(NVTX_ENTRY): $(NVTX_ENTRY_OBJS) libcupti-usdt/nvtx-entry/nvtx_entry.map
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,libcupti-usdt-nvtx.so -Wl,-z,nodelete,-z,now,-z,relro \
		-Wl,--no-undefined -Wl,--version-script=libcupti-usdt/nvtx-entry/nvtx_entry.map \
		-o $@ $(NVTX_ENTRY_OBJS) -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2
