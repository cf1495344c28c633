# SPDX-License-Identifier: BSD-2-Clause
# make install: writes below $(DESTDIR) only, and leaves the ld cache to the package manager or
# the administrator (ldconfig, once).

INSTALL ?= install
AGENT_NAME := libcupti-usdt.so

# What is installed under other names, or after filling in paths.
SCRIPTS := $(patsubst %.in,$(B)/%,$(wildcard etc/*.in etc/*/*.in))
ALL += $(SCRIPTS)

# The bare name is the same on every architecture, and found through $(ldconfdir); the loader reads
# no such folder outside /etc, so that another sysconfdir needs the whole path.
INJECT := $(if $(filter /etc,$(sysconfdir)),$(AGENT_NAME),$(agentdir)/$(AGENT_NAME))
# One entry an architecture, so that the packages of several can be installed together.
ldconf := cuda-trace-$(or $(MULTIARCH),local).conf
# Where the agent of any architecture may lie.
AGENTS := $(sort $(foreach t,$(MULTIARCH) x86_64-linux-gnu aarch64-linux-gnu,\
	$(subst /$(MULTIARCH)/,/$t/,$(agentdir)/$(AGENT_NAME))))
# "One of them is there", for sh and fish, and for csh.
space := $(subst ,, )
any_of = $(subst :, ,$(subst $(space), || ,$(patsubst %,$(1):%,$(AGENTS))))

$(B)/etc/%: etc/%.in mk/install.mk $(B)/paths
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)sed -e 's,@INJECT@,$(INJECT),g' -e 's,@AGENTDIR@,$(agentdir),g' \
		-e 's,@TEST_AGENT@,$(call any_of,test:-r),g' -e 's,@CSH_AGENT@,$(call any_of,-r),g' \
		-e 's,@SYSCONFDIR@,$(sysconfdir),g' -e 's,@DATADIR@,$(datadir),g' \
		-e 's,@BINDIR@,$(bindir),g' -e 's,@DEFAULTDIR@,$(defaultdir),g' $< > $@

# What manual pages, --help and these pages themselves refer to; links between them lead to the same places as in the
# tree.
DOCS := NEWS.md CONTRIBUTING.md SECURITY.md $(wildcard docs/*/*.* docs/*/*/*.*)

put = $(Q)$(INSTALL) -D -m $(1) $(2) $(DESTDIR)$(3)
put_all = $(Q)for f in $(2); do $(INSTALL) -D -m $(1) "$$f" $(DESTDIR)$(3)/"$${f\#\#*/}" || exit 1; done

.PHONY: install install-agent install-tool install-dev
install: install-agent install-tool install-dev

install-agent: shipped
	$(call say,INSTALL,$(DESTDIR)$(agentdir))
	$(call put,644,$(AGENT),$(agentdir)/$(AGENT_NAME))
	$(call put,644,$(NVTX_ENTRY),$(agentdir)/$(notdir $(NVTX_ENTRY)))
	$(call put,644,$(B)/etc/ld.so.conf.d/cuda-trace.conf,$(ldconfdir)/$(ldconf))
	$(call put_all,644,$(filter %.7,$(MAN_PAGES)),$(mandir)/man7)

install-tool: shipped
	$(call say,INSTALL,$(DESTDIR)$(bindir)/cuda-trace)
	$(call put,755,$(TOOL),$(bindir)/cuda-trace)
	$(call put_all,644,$(filter %.1,$(MAN_PAGES)),$(mandir)/man1)
	$(call put_all,644,$(filter %.5,$(MAN_PAGES)),$(mandir)/man5)
	$(call put_all,644,$(filter %.8,$(MAN_PAGES)),$(mandir)/man8)
	$(Q)while read -r link page; do ln -sf "$$page" $(DESTDIR)$(mandir)/man1/"$$link" || exit 1; \
		done < man/links
	$(call put,644,completions/cuda-trace.bash,$(bashcompdir)/cuda-trace)
	$(call put,644,completions/cuda-trace.zsh,$(zshcompdir)/_cuda-trace)
	$(call put,644,completions/cuda-trace.fish,$(fishdir)/vendor_completions.d/cuda-trace.fish)
	$(call put,644,$(B)/etc/profile.d/cuda-trace.sh,$(profiledir)/cuda-trace.sh)
	$(call put,644,$(B)/etc/profile.d/cuda-trace.csh,$(cshdir)/cuda-trace.csh)
	$(call put,644,$(B)/etc/fish/cuda-trace.fish,$(fishdir)/vendor_conf.d/cuda-trace.fish)
	$(call put,644,etc/default/cuda-trace,$(defaultdir)/cuda-trace)
	$(call put_all,644,$(filter $(B)/etc/systemd/%,$(SCRIPTS)),$(unitdir))
	$(call put_all,644,$(wildcard etc/share/*),$(datadir)/cuda-trace)
	$(call put_all,644,$(wildcard etc/helm/cuda-trace/*.*),$(datadir)/cuda-trace/helm)
	$(call put_all,644,$(wildcard etc/helm/cuda-trace/templates/*),$(datadir)/cuda-trace/helm/templates)
	$(call put_all,644,$(filter $(B)/etc/bpftrace/%,$(SCRIPTS)),$(datadir)/cuda-trace/bpftrace)
	$(call put,644,libcupti-usdt/probes.h,$(datadir)/cuda-trace/bpftrace/probes.h)
	$(call put,644,libcupti-usdt/graph_records.h,$(datadir)/cuda-trace/bpftrace/graph_records.h)
	$(call put,644,libcupti-usdt/nvtx_records.h,$(datadir)/cuda-trace/bpftrace/nvtx_records.h)
	$(Q)for f in $(sort $(DOCS)); do $(INSTALL) -D -m 644 "$$f" $(DESTDIR)$(docdir)/"$$f" || exit 1; done

install-dev:
	$(call put,644,libcupti-usdt/probes.h,$(includedir)/cuda-trace/probes.h)
	$(call put,644,libcupti-usdt/counter_request.h,$(includedir)/cuda-trace/counter_request.h)
	$(call put,644,libcupti-usdt/stack_probes.h,$(includedir)/cuda-trace/stack_probes.h)
	$(call put,644,libcupti-usdt/graph_records.h,$(includedir)/cuda-trace/graph_records.h)
	$(call put,644,libcupti-usdt/nvtx_records.h,$(includedir)/cuda-trace/nvtx_records.h)
