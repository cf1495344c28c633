# SPDX-License-Identifier: BSD-2-Clause
# What tests/guest.bats runs: a consumer of the probes of its own, and programs that test parts of
# the guest from inside.

GUEST_LISTEN := $(B)/tests/guest/listen
ALL += $(GUEST_LISTEN)

$(B)/obj/tests/guest/listen.o: | $(B)/tests/guest/listen.skel.h
$(GUEST_LISTEN): $(B)/obj/tests/guest/listen.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ -lbpf -lelf -lz
