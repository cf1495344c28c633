# SPDX-License-Identifier: BSD-2-Clause
# make check: lays down build/root with `make install` as a package would, and runs tests/*/*.bats
# against that.

# Those that need clean roots and minutes.
PACKAGE_TESTS := $(addprefix tests/packaging/,package.bats newcomer.bats systemd.bats container.bats)
# That need a build of their own.
SANITIZE_TESTS := tests/agent/sanitize.bats
# In a virtual machine.
KERNEL_TESTS := tests/kernels/kernels.bats
TESTS ?= $(filter-out $(PACKAGE_TESTS) $(SANITIZE_TESTS) $(KERNEL_TESTS),\
	$(sort $(wildcard tests/*/*.bats)))
ROOT := $(abspath $(B))/root
C_FILES = $(shell find libcupti-usdt bpf cuda-trace tests -name '*.[ch]')

.PHONY: check consumers check-run root check-headers check-packages sanitized check-sanitize check-fuzz \
	check-kernels soak
check:
	$(Q)mk/deps build test
	$(Q)$(MAKE) --no-print-directory root prefix=/usr libdir=/usr/lib/'$$(MULTIARCH)'
	$(Q)$(MAKE) --no-print-directory check-run

root: all workloads
	$(Q)rm -rf $(ROOT)
	$(Q)$(MAKE) --no-print-directory -s install DESTDIR=$(ROOT) sysconfdir=/etc

check-run:
	$(Q)B=$(abspath $(B)) mk/npm-packages
	$(Q)B=$(abspath $(B)) CC='$(CC)' AGAIN=$(AGAIN) tests/run $(TESTS)

# Runs the tests that stand for programs which read our outputs, and writes their table.
consumers:
	$(Q)mk/deps build test
	$(Q)$(MAKE) --no-print-directory root prefix=/usr libdir=/usr/lib/'$$(MULTIARCH)'
	$(Q)B=$(abspath $(B)) mk/npm-packages
	$(Q)B=$(abspath $(B)) CC='$(CC)' mk/consumers --run

check-packages:
	$(Q)mk/deps build test deb rpm package
	$(Q)[ -x $(ROOT)/usr/bin/cuda-trace ] || \
		$(MAKE) --no-print-directory root prefix=/usr libdir=/usr/lib/'$$(MULTIARCH)'
	$(Q)JOBS=0 B=$(abspath $(B)) CC='$(CC)' tests/run $(PACKAGE_TESTS)

# Agent, simulated driver and test programs are built with each sanitizer; the tool that watches
# them is the plain one that `make check` laid down. Both are tested at once.
SANITIZERS := address,undefined thread
sanitized_build = $(abspath $(B))/t/sanitize-$${s%,*}
sanitized:
	$(Q)mk/deps build test
	$(Q)for s in $(SANITIZERS); do \
		$(MAKE) --no-print-directory B=$(sanitized_build) SANITIZE=$$s CFLAGS='-O1 -g' agent workloads || exit 1; \
	done

check-sanitize: sanitized
	$(Q)[ -x $(ROOT)/usr/bin/cuda-trace ] || \
		$(MAKE) --no-print-directory root prefix=/usr libdir=/usr/lib/'$$(MULTIARCH)'
	$(Q)running=; for s in $(SANITIZERS); do \
		B=$(sanitized_build) ROOT=$(ROOT) AGENT=$(sanitized_build)/libcupti-usdt.so SANITIZE=$$s \
			TAP=$(abspath $(B))/tap/$${s%,*} tests/run $(SANITIZE_TESTS) & running="$$running $$!"; \
	done; failed=0; for pid in $$running; do wait $$pid || failed=1; done; exit $$failed

# Coverage-guided, where this clang has libFuzzer: each parser for FUZZ_SECONDS. Then reports of damaged recordings, by a
# tool with sanitizers: FIRST... FIRST + VARIANTS - 1.
FUZZ_SECONDS ?= 60
VARIANTS ?= 10000
FIRST ?= 1
FUZZ := $(abspath $(B))/t/fuzz-address
check-fuzz:
	$(Q)mk/deps build test
	$(Q)mkdir -p $(abspath $(B))/tap/fuzz
	$(Q)if tests/fuzz/has-libfuzzer $(CLANG); then \
		[ -x $(ROOT)/usr/bin/cuda-trace ] || $(MAKE) --no-print-directory all workloads || exit 1; \
		$(MAKE) --no-print-directory $(FUZZ_PROGRAMS) || exit 1; fi
	$(Q)B=$(abspath $(B)) CLANG=$(CLANG) FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_AT_ONCE=$(FUZZ_AT_ONCE) tests/fuzz/run $(FUZZ_TARGETS)
	$(Q)$(MAKE) --no-print-directory B=$(FUZZ) SANITIZE=address,undefined CFLAGS='-O0 -g1' \
		$(FUZZ)/cuda-trace $(FUZZ)/tests/recording/store/feeder
	$(Q)mkdir -p $(abspath $(B))/tap/fuzz
	$(Q)python3 tests/recording/store/fuzz.py $(FUZZ)/cuda-trace $(FUZZ)/tests/recording/store/feeder \
		$(VARIANTS) $(abspath $(B))/tap/fuzz/fuzz.tap $(FIRST)

# A day's work (SCALE=1), or a part of it: tests/soak says what that is. At the lowest priority.
SCALE ?= 0.1
soak: all workloads
	$(Q)B=$(abspath $(B)) CC='$(CC)' chrt --idle 0 nice -n 19 tests/soak $(SCALE)

# What is installed, on kernels that distributions have: what one kernel's verifier takes, another's
# refuses. Suites of Debian, arm64:SUITE, or files: KERNELS='bookworm /boot/vmlinuz-5.15.0-1-generic'.
# Tests skip with the reason where a kernel or QEMU cannot be had.
KERNELS ?= bookworm trixie arm64:bookworm arm64:trixie
check-kernels:
	$(Q)mk/deps build test
	$(Q)mk/deps kernels || :
	$(Q)$(MAKE) --no-print-directory root prefix=/usr libdir=/usr/lib/'$$(MULTIARCH)'
	$(Q)rm -rf $(abspath $(B))/tap/kernels $(abspath $(B))/t/arm64
	$(Q)for k in $(KERNELS); do \
		KERNEL=$$k JOBS=0 TAP=$(abspath $(B))/tap/kernels/$${k##*/} B=$(abspath $(B)) CC='$(CC)' \
			tests/run $(KERNEL_TESTS) || :; \
	done
	$(Q)sum=$$(tests/tally $$(find $(abspath $(B))/tap/kernels -name '*.tap')); echo "$$sum"; \
		echo "$$sum" | grep -q ', 0 failed,'

# Each header compiles alone; those of bpf/ as eBPF. A part of a source ("Included once") is none.
check-headers: $(SKELETONS)
	$(Q)for h in $(shell find libcupti-usdt cuda-trace -name "*.h") bpf/event.h; do \
		$(COMPILE) -Werror -fsyntax-only -MF /dev/null -x c -include $$h /dev/null || exit 1; done
	$(Q)for h in $(shell grep -L 'Included once' bpf/*.h); do \
		$(CLANG) $(BPF_CFLAGS) -fsyntax-only -x c -include $$h /dev/null || exit 1; done
