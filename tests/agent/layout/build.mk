# SPDX-License-Identifier: BSD-2-Clause
# The agent's and the tool's own declarations of CUPTI against a toolkit's headers, where one is
# installed. An empty CUDA_HOME means no toolkit.

CUPTI_H := $(firstword $(wildcard $(CUDA_HOME)/include/cupti.h \
	$(CUDA_HOME)/extras/CUPTI/include/cupti.h))

LAYOUTS := layout payload host range pm sass

.PHONY: check-layout
check-layout:
ifeq ($(CUPTI_H),)
	@echo "check-layout: skipped: no cupti.h below CUDA_HOME ($(CUDA_HOME))"
else
	$(call say,LAYOUT,$(CUPTI_H))
	@mkdir -p $(B)/tests/agent/layout
	$(Q)for name in $(LAYOUTS); do \
		$(CC) -Itests/agent/layout/cxx $(OUR_CPPFLAGS) -std=gnu11 -Wall -Werror \
			-isystem $(CUDA_HOME)/include -isystem $(dir $(CUPTI_H)) \
			-c -o $(B)/tests/agent/layout/$$name.o tests/agent/layout/$$name.c || exit 1; \
	done
	$(Q)tests/agent/layout/results.sh $(CUDA_HOME)/include
	@echo "check-layout: results, cupti_*.h and pm_calls.h agree with $(CUPTI_H)"
endif
