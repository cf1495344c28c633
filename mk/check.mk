# SPDX-License-Identifier: BSD-2-Clause
# make check: lays down build/root with `make install` as a package would, and runs tests/*.bats
# against that.

# Those that need clean roots and minutes.
PACKAGE_TESTS := tests/package.bats
TESTS ?= $(filter-out $(PACKAGE_TESTS),$(sort $(wildcard tests/*.bats)))
ROOT := $(abspath $(B))/root
C_FILES := $(wildcard $(foreach d,libcupti-usdt bpf cuda-trace tests/simcuda tests/workloads \
	tests/bench,$d/*.[ch]))

.PHONY: check check-run root check-packages check-sanitize
check:
	$(Q)mk/deps build test
	$(Q)$(MAKE) --no-print-directory root prefix=/usr libdir=/usr/lib/'$$(MULTIARCH)'
	$(Q)$(MAKE) --no-print-directory check-run

root: all workloads
	$(Q)rm -rf $(ROOT)
	$(Q)$(MAKE) --no-print-directory -s install DESTDIR=$(ROOT) sysconfdir=/etc

check-run:
	$(Q)B=$(abspath $(B)) CC='$(CC)' tests/run $(TESTS)

check-packages:
	$(Q)mk/deps build test package
	$(Q)B=$(abspath $(B)) CC='$(CC)' tests/run $(PACKAGE_TESTS)

# Guest and simulated driver under the sanitizers: tests/sanitize.bats, once for each, against what
# is built with it.
check-sanitize:
	$(Q)mk/deps build test
	$(Q)for s in address,undefined thread; do \
		b=$(abspath $(B))/t/$$s; \
		$(MAKE) --no-print-directory B=$$b SANITIZE=$$s guest workloads || exit 1; \
		B=$$b SANITIZE=$$s TAP=$(abspath $(B))/tap/$$s tests/run tests/sanitize.bats || exit 1; \
	done
