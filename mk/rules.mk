# SPDX-License-Identifier: BSD-2-Clause
# How .c, .bpf.c, .skel.h and .so are made. One graph, everything under build/.

B ?= build
ALL :=

ifeq ($(V),1)
Q :=
say :=
else
Q := @
say = @printf '  %-8s %s\n' $(1) $(2)
ifneq ($(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS)))),)
say := @:
endif
endif

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:

OUR_CPPFLAGS := -I. -I$(B) -D_GNU_SOURCE -DVERSION='"$(VERSION)"'
OUR_CFLAGS := -std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow \
	-Wno-unused-parameter -fno-strict-aliasing
ifeq ($(WERROR),1)
OUR_CFLAGS += -Werror
endif
ifneq ($(SANITIZE),)
OUR_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
OUR_LDFLAGS += -fsanitize=$(SANITIZE)
endif

COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) $(OUR_CFLAGS) $(CFLAGS) $(OUR_LDFLAGS) $(LDFLAGS)

# Plain objects of a program: build/obj/FOLDER/x.o. Shared objects: build/pic/FOLDER/x.o.
$(B)/obj/%.o: %.c mk/rules.mk mk/config.mk VERSION
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(OBJ_CFLAGS) -c -o $@ $<

$(B)/pic/%.o: %.c mk/rules.mk mk/config.mk VERSION
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(PIC_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

# eBPF: distribution headers only; no vmlinux.h (kernel types that are needed are declared, CO-RE).
BPF_ARCH := $(shell $(CC) -dumpmachine | sed -e 's/^x86_64.*/x86/' -e 's/^aarch64.*/arm64/' -e 's/-.*//')
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
BPF_CFLAGS := -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -O2 -g -Wall -Werror -I. \
	$(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH))

$(B)/%.bpf.o: %.bpf.c mk/rules.mk
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(B)/%.skel.h: $(B)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$(notdir $*))_bpf > $@
