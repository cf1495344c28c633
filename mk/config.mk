# SPDX-License-Identifier: BSD-2-Clause
# Everything that a packager or user may set, and nothing else. CFLAGS, CPPFLAGS, LDFLAGS are
# theirs: the project's own flags stand in mk/rules.mk.

VERSION := $(shell cat VERSION)

prefix     ?= /usr/local
exec_prefix ?= $(prefix)
bindir     ?= $(exec_prefix)/bin
libdir     ?= $(exec_prefix)/lib
datadir    ?= $(prefix)/share
mandir     ?= $(datadir)/man
includedir ?= $(prefix)/include
sysconfdir ?= /etc
# The agent's own folder: private, so that nobody links with it. The loader still finds it by its
# bare name, through the entry that is installed into $(ldconfdir).
agentdir   ?= $(libdir)/cuda-trace
ldconfdir  ?= $(sysconfdir)/ld.so.conf.d
profiledir ?= $(sysconfdir)/profile.d
# Where csh's login scripts are read from: Debian has /etc/csh/login.d, Fedora /etc/profile.d.
cshdir     ?= $(sysconfdir)/profile.d
defaultdir ?= $(sysconfdir)/default
unitdir    ?= $(prefix)/lib/systemd/system
bashcompdir ?= $(datadir)/bash-completion/completions
zshcompdir ?= $(datadir)/zsh/site-functions
fishdir    ?= $(datadir)/fish
docdir     ?= $(datadir)/doc/cuda-trace
DESTDIR    ?=

CC         ?= cc
CXX        ?= c++
CLANG      ?= clang
LLVM_STRIP ?= $(or $(shell command -v llvm-strip),$(lastword $(sort $(wildcard /usr/bin/llvm-strip-*))))
BPFTOOL    ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
SCDOC      ?= scdoc
CFLAGS     ?= -O2 -g
# A CUDA toolkit: only `make check` looks at its headers, and only to compare.
CUDA_HOME  ?= /usr/local/cuda

# V=1 shows every command, WERROR=1 makes warnings errors (CI does).
V          ?= 0
WERROR     ?= 0
# SANITIZE=address,undefined or thread builds agent, tool and simulation with that sanitizer.
SANITIZE   ?=
