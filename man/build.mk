# SPDX-License-Identifier: BSD-2-Clause
# man/NAME.SECTION.scd becomes build/man/NAME.SECTION; man/links names further names of a page.

MAN_PAGES := $(patsubst %.scd,$(B)/%,$(wildcard man/*.scd))
ALL += $(MAN_PAGES)

# man runs tbl for pages whose first line asks for it; scdoc does not write that line.
# scdoc writes a date: the source file's unless SOURCE_DATE_EPOCH says otherwise.
$(B)/man/%: man/%.scd VERSION $(B)/paths
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)sed -e 's/@VERSION@/$(VERSION)/g' -e 's,@DOCDIR@,$(docdir),g' $< | \
		SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(stat -c %Y $<)} $(SCDOC) > $@
	$(Q)! grep -q '^\.TS' $@ || sed -i "1i '\\\\\" t" $@
