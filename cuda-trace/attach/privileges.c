// SPDX-License-Identifier: BSD-2-Clause
/*
 * Capabilities and kernel features, checked before the load: the kernel's own answers (EPERM,
 * EINVAL) do not say which one is missing. Called by session__open() and doctor.
 */
#include "cuda-trace/attach/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BIT(capability) (1ull << (capability))

/* New links: BPF, PERFMON. Other users' memory maps, and the files in them: SYS_PTRACE,
 * CHECKPOINT_RESTORE. Parsers without rights: SETUID, SETGID. Output in folders of other users:
 * DAC_*, FOWNER. -p and programs' ends: KILL. Memory for maps before Linux 5.11, and descriptors:
 * SYS_RESOURCE. */
#define NEEDED                                                                                  \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE) |  \
	 BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | \
	 BIT(CAP_FOWNER) | BIT(CAP_KILL) | BIT(CAP_SYS_RESOURCE))

static bool is_admin_needed, is_admin_laid_aside;

bool privileges__has(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[capability / 32].effective >> (capability % 32) & 1;
}

/* Leaves effective and permitted what is in these sets; false: nothing has changed. */
static bool restrict_to(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	if (syscall(SYS_capget, &header, data))
		return false;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= permitted >> 32 * i;
		data[i].effective = data[i].permitted & effective >> 32 * i;
		data[i].inheritable &= data[i].permitted;
	}
	return !syscall(SYS_capset, &header, data);
}

void privileges__need_admin(void)
{
	is_admin_needed = true;
}

void privileges__lay_admin_aside(void)
{
	is_admin_laid_aside = true;
}

void privileges__reduce(bool (*probe)(void *context), void *context)
{
	const uint64_t most = NEEDED | BIT(CAP_SYS_ADMIN);
	/* Without it, only CAP_SYS_ADMIN opens what a process has mapped (/proc/PID/map_files). */
	bool opens_maps = privileges__has(CAP_CHECKPOINT_RESTORE);

	if (!is_admin_needed && opens_maps && privileges__has(CAP_SYS_ADMIN) &&
	    restrict_to(NEEDED, most) && probe(context) &&
	    (is_admin_laid_aside || restrict_to(NEEDED, NEEDED)))
		return;
	restrict_to(most, most);
}

static const char *own_path(char self[256])
{
	ssize_t n = readlink("/proc/self/exe", self, 255);

	if (n <= 0)
		return "cuda-trace";
	self[n] = 0;
	return self;
}

static int set_effective(int capability, bool on)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};
	uint32_t bit = 1u << capability % 32;

	if (syscall(SYS_capget, &header, data))
		return -errno;
	if (on)
		data[capability / 32].effective |= bit;
	else
		data[capability / 32].effective &= ~bit;
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

void privileges__raise_admin(void)
{
	set_effective(CAP_SYS_ADMIN, true);
}

/* A uprobe that is disabled, at no instruction: only whether it is allowed counts. */
static bool may_set_uprobes(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .disabled = 1};
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int fd, type = 0;

	if (file && fscanf(file, "%d", &type) != 1)
		type = 0;
	if (file)
		fclose(file);
	attr.type = type;
	attr.uprobe_path = (uintptr_t) "/proc/self/exe";
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EACCES && errno != EPERM);
}

/*
 * Linux 6.16 took uprobes back from CAP_PERFMON, and older kernels that are still maintained got
 * that, too: it is tried out where this process may, without CAP_SYS_ADMIN for a moment.
 */
static bool uprobes_want_admin(void)
{
	struct utsname kernel = {};
	unsigned int major = 0, minor = 0;
	bool wants;

	if (privileges__has(CAP_PERFMON)) {
		bool admin = privileges__has(CAP_SYS_ADMIN);

		if (!admin || !set_effective(CAP_SYS_ADMIN, false)) {
			wants = !may_set_uprobes();
			if (admin)
				set_effective(CAP_SYS_ADMIN, true);
			return wants;
		}
	}
	uname(&kernel);
	sscanf(kernel.release, "%u.%u", &major, &minor);
	return major > 6 || (major == 6 && minor >= 16);
}

const char *privileges__recipe(char out[PRIVILEGES_RECIPE_SIZE])
{
	char self[256];

	snprintf(out, PRIVILEGES_RECIPE_SIZE,
		 "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,%s=ep %s",
		 uprobes_want_admin() ? "cap_sys_admin" : "cap_checkpoint_restore", own_path(self));
	return out;
}

int privileges__say_uprobes(void)
{
	char recipe[PRIVILEGES_RECIPE_SIZE];

	fprintf(stderr,
		"cuda-trace: this kernel lets only CAP_SYS_ADMIN set uprobes: use sudo, or once: "
		"%s\n",
		privileges__recipe(recipe));
	return -EPERM;
}

static int say_capabilities(bool bpf, bool perfmon)
{
	char recipe[PRIVILEGES_RECIPE_SIZE];

	fprintf(stderr, "cuda-trace: %s%s%s %s missing: use sudo, or once: %s\n",
		bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON",
		bpf || perfmon ? "is" : "are", privileges__recipe(recipe));
	return -EPERM;
}

int privileges__check(void)
{
	bool admin = privileges__has(CAP_SYS_ADMIN);
	bool bpf = admin || privileges__has(CAP_BPF);
	bool perfmon = admin || privileges__has(CAP_PERFMON);
	struct utsname kernel = {};

	uname(&kernel);
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr,
			"cuda-trace: this kernel (%s) has no BTF (/sys/kernel/btf/vmlinux): it "
			"needs "
			"Linux 5.15 or newer built with CONFIG_DEBUG_INFO_BTF\n",
			kernel.release);
		return -EOPNOTSUPP;
	}
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK)) {
		fprintf(stderr,
			"cuda-trace: this kernel (%s) has no uprobes (CONFIG_UPROBE_EVENTS), or "
			"/sys "
			"is not mounted\n",
			kernel.release);
		return -EOPNOTSUPP;
	}
	if (!bpf || !perfmon)
		return say_capabilities(bpf, perfmon);
	return 0;
}
