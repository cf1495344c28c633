# SPDX-License-Identifier: BSD-2-Clause
# How .c, .bpf.c, .skel.h and .so are made. One graph, everything under build/.

B ?= build
ALL :=

ifeq ($(V),1)
Q :=
say :=
else
Q := @
# make itself prints: programs that did so took a fiftieth of a build. Dots are blanks.
steps := AR...... CC...... CLANG... DEB..... DIST.... EMBED... GEN..... INSTALL. LAYOUT.. LD...... MAN..... PROTOC.. RPM..... SKEL....
blank :=
say = $(info $(blank)  $(subst ., ,$(or $(filter $(1).%,$(steps)),$(1).))$(2))
ifneq ($(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS)))),)
say :=
endif
endif

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

OUR_CPPFLAGS := -I. -I$(B) -D_GNU_SOURCE -DVERSION='"$(VERSION)"'
OUR_CFLAGS := -std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow \
	-Wno-unused-parameter -fno-strict-aliasing
# Sanitizers' checks make gcc warn of paths that cannot be: no errors there.
ifeq ($(WERROR)$(SANITIZE),1)
# Packages are built with it: what it alone warns of must not be seen first there.
OUR_CFLAGS += -Werror $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
ifneq ($(SANITIZE),)
OUR_CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
OUR_LDFLAGS += -fsanitize=$(SANITIZE)
endif

COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) $(OUR_CFLAGS) $(CFLAGS) $(OUR_LDFLAGS) $(LDFLAGS)

# $(B)/flags, $(B)/paths: what was said on the command line, rewritten only when that changes, so
# that other flags or another prefix rebuild what they must, and the same ones nothing.
write_if_changed = mkdir -p $(B) && printf '%s\n' '$(subst ','\'',$(2))' | \
	{ cmp -s - $(1) || printf '%s\n' '$(subst ','\'',$(2))' > $(1); }
ifeq ($(filter clean help deps,$(MAKECMDGOALS)),)
$(shell $(call write_if_changed,$(B)/flags,$(COMPILE) $(LINK) $(CXX) $(CLANG)))
$(shell $(call write_if_changed,$(B)/paths,$(bindir) $(agentdir) $(datadir) $(docdir) $(sysconfdir)))
endif
$(B)/flags $(B)/paths:

# Likewise: mkdir only where there is something to make.
folder = $(if $(wildcard $(@D)/.),,@mkdir -p $(@D))

# Plain objects of a program: build/obj/FOLDER/x.o. Shared objects: build/pic/FOLDER/x.o.
$(B)/obj/%.o: %.c mk/rules.mk $(B)/flags | $(B)/ready
	$(call say,CC,$@)
	$(folder)
	$(Q)$(COMPILE) $(OBJ_CFLAGS) -c -o $@ $<

$(B)/pic/%.o: %.c mk/rules.mk $(B)/flags | $(B)/ready
	$(call say,CC,$@)
	$(folder)
	$(Q)$(COMPILE) $(PIC_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

# eBPF: distribution headers only; no vmlinux.h (kernel types that are needed are declared, CO-RE).
# The two -f options keep the build's folder out of the object, so that builds are reproducible.
TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)
BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(firstword $(subst -, ,$(TARGET)))))
MULTIARCH := $(subst -unknown-,-,$(subst -pc-,-,$(TARGET)))
BPF_CFLAGS := -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -O2 -g -Wall -Werror -I. \
	-fdebug-compilation-dir=. -ffile-prefix-map=$(CURDIR)=. \
	$(if $(wildcard /usr/include/$(MULTIARCH)),-idirafter /usr/include/$(MULTIARCH))

$(B)/%.bpf.o: %.bpf.c mk/rules.mk $(B)/flags | $(B)/ready
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
	$(Q)$(LLVM_STRIP) -g $@

$(B)/%.skel.h: $(B)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$(notdir $*))_bpf > $@

# Says once which packages are missing, before the compiler says it less clearly. No error: what
# a package would bring may come from elsewhere.
$(B)/ready: mk/deps.list
	@mkdir -p $(B)
	@missing=$$(mk/deps --missing build); if [ -z "$$missing" ]; then touch $@; else \
		echo "make: not installed: $$missing" >&2; \
		echo "make: if the build fails below, 'mk/deps build' as root installs them" >&2; fi
