# SPDX-License-Identifier: BSD-2-Clause
# make deb, make rpm: packages of the tree as it is now, in build/deb and build/rpm. The packages'
# own rules call `make` and `make install` again, in a copy.

.PHONY: deb rpm
deb:
	$(Q)mk/deps build package
	$(call say,DEB,$(B)/deb)
	$(Q)mk/deb $(B)/deb
	$(Q)ls $(B)/deb/*.deb

rpm:
	$(Q)mk/deps build package
	$(call say,RPM,$(B)/rpm)
	$(Q)mk/rpm $(B)/rpm
	$(Q)ls $(B)/rpm/*.rpm
