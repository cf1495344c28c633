# SPDX-License-Identifier: BSD-2-Clause
# make dist: a tarball of the sources, in build/dist, with its SHA-256.
# make deb, make rpm: packages of the tree as it is now, in build/deb and build/rpm. The packages'
# own rules call `make` and `make install` again, in a copy.

.PHONY: dist deb rpm
dist:
	$(call say,DIST,$(B)/dist)
	$(Q)mk/dist $(B)/dist

deb:
	$(Q)mk/deps build deb
	$(call say,DEB,$(B)/deb)
	$(Q)mk/deb $(B)/deb
	$(Q)ls $(B)/deb/*.deb

rpm:
	$(Q)mk/deps build rpm
	$(call say,RPM,$(B)/rpm)
	$(Q)mk/rpm $(B)/rpm
	$(Q)ls $(B)/rpm/*.rpm
