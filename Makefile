# SPDX-License-Identifier: BSD-2-Clause
# The goals. How things are made is in mk/rules.mk, what a packager may set in mk/config.mk,
# which files make what in each folder's build.mk.

all:

include mk/config.mk
include mk/rules.mk
include libcupti-usdt/build.mk
include bpf/build.mk
include cuda-trace/build.mk
include man/build.mk
include mk/install.mk
# What is installed and packaged; the rest serves tests.
SHIPPED := $(ALL)
include tests/build.mk
include mk/check.mk
include mk/package.mk

.PHONY: all shipped agent workloads clean help deps demo bench format compile_commands.json
all: $(ALL)
shipped: $(SHIPPED)
agent: $(AGENT)
workloads: simcuda

#: cuda-trace: goals of make (outputs in build/, or in the folder B=...)
#:
#:   all              injection library, tool, manual pages, test programs: the default
#:   shipped          only what is installed
#:   demo             cuda-trace on a small CUDA program, on the GPU or the simulated driver
#:   check            builds, installs into a tree of its own, tests that;
#:                    TESTS='tests/trace/trace.bats' runs some files, FILTER=regex some tests
#:   consumers        runs the tests of programs that read our outputs, writes their table
#:   check-packages   packages built, installed, upgraded, removed in clean roots (as root)
#:   check-kernels    the commands on kernels of Debian 12 and 13, in QEMU, or on
#:                    KERNELS='vmlinuz...'
#:   check-sanitize   the agent and the simulated driver under ASan, UBSan and TSan
#:   check-fuzz       each parser under libFuzzer for FUZZ_SECONDS=60, and VARIANTS=10000 damaged
#:                    recordings, under ASan and UBSan
#:   soak             SCALE=0.1 of a day's work under `metrics` and `stat -a` (as root; SCALE=1: about an hour)
#:   bench            the overhead table
#:   install          below $DESTDIR$prefix (prefix=/usr/local, sysconfdir=/etc)
#:   dist             a tarball of the sources, which builds without a network, in build/dist
#:   deb, rpm         packages, in build/deb and build/rpm
#:   deps             installs what building, testing and packaging need (as root)
#:   format           applies .clang-format
#:   compile_commands.json   for clangd
#:   clean            removes build/
#:
#: demo and check first install missing packages of the distribution (mk/deps.list).
#: Settings: V=1 shows commands, WERROR=1 makes warnings errors, SANITIZE=address,undefined
#: or thread, CC, CFLAGS, LDFLAGS and the rest of mk/config.mk.
help:
	@sed -n 's/^#: \{0,1\}//p' Makefile

clean:
	$(Q)rm -rf $(B)

deps:
	$(Q)mk/deps build test deb rpm package

# In two steps, because what the first installs (pkg-config, a compiler) is queried while the
# second reads the makefiles.
demo:
	$(Q)mk/quietly "installing missing packages" mk/deps build
	$(Q)mk/quietly "building" $(MAKE) -j$(shell nproc) --no-print-directory shipped workloads
	$(Q)B=$(B) mk/demo

bench: all workloads
	$(Q)B=$(B) tests/bench/run

format:
	$(Q)clang-format -i $(C_FILES)

compile_commands.json:
	$(Q)$(MAKE) --no-print-directory -Bn V=1 all workloads | \
		awk -v dir='$(CURDIR)' -f mk/compile-commands.awk > $@

# Not those of the roots and package builds that tests keep below $(B).
-include $(shell find $(B) -path '$(B)/t' -prune -o -path '$(B)/deb' -prune -o \
	-path '$(B)/rpm' -prune -o -name '*.d' -type f -print 2>/dev/null)
