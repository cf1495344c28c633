# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
SKELETONS := $(patsubst %.bpf.c,$(B)/%.skel.h,$(wildcard bpf/*.bpf.c))
