// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernel features are tried out, never concluded from a version: distributions port them back.
 * Called by cmd_doctor; one thread.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "cuda-trace/inventory/filetree.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/doctor/doctor_kernel.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/attach/privileges.h"

/* A feature by a file that the kernel has with it. */
static void report_file(const struct filetree *tree, const char *path, const char *key,
			const char *have, const char *lack, struct findings *findings)
{
	if (filetree__exists(tree, path))
		findings__add(findings, FINDING_OK, key, NULL, "%s", have);
	else
		findings__add(findings, FINDING_PROBLEM, key, NULL, "%s", lack);
}

static void report_lockdown(const struct filetree *tree, struct findings *findings)
{
	char text[128];

	if (filetree__read(tree, "/sys/kernel/security/lockdown", text, sizeof(text)) <= 0)
		return;
	if (strstr(text, "[confidentiality]"))
		findings__add(findings, FINDING_PROBLEM, "lockdown", "boot with lockdown=integrity",
			      "the kernel is locked down (confidentiality): eBPF may not read the "
			      "data of probes");
}

static bool report_rights(struct findings *findings)
{
	bool bpf = privileges__has(CAP_BPF) || privileges__has(CAP_SYS_ADMIN);
	bool perfmon = privileges__has(CAP_PERFMON) || privileges__has(CAP_SYS_ADMIN);
	bool ptrace = privileges__has(CAP_SYS_PTRACE);
	char rights[PRIVILEGES_RECIPE_SIZE];

	privileges__recipe(rights);
	if (!bpf || !perfmon)
		findings__add(findings, FINDING_NOTE, "rights", rights,
			      "this user may not trace: it lacks %s%s%s", bpf ? "" : "CAP_BPF",
			      !bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON");
	else if (!ptrace)
		findings__add(findings, FINDING_NOTE, "rights", rights,
			      "without CAP_SYS_PTRACE only this user's processes can be traced in "
			      "containers");
	else
		findings__add(findings, FINDING_OK, "rights", NULL,
			      "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE are available");
	return bpf && perfmon;
}

/* Asking needs the rights that tracing needs. */
static void report_ebpf(struct findings *findings)
{
	libbpf_set_print(NULL);
	if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 1)
		findings__add(findings, FINDING_OK, "ring_buffer", NULL, "eBPF ring buffers work");
	else
		findings__add(findings, FINDING_PROBLEM, "ring_buffer", NULL,
			      "no eBPF ring buffer: Linux 5.15 or newer is needed, with "
			      "CONFIG_BPF_SYSCALL");
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) != 1)
		findings__add(findings, FINDING_PROBLEM, "cookies", NULL,
			      "no eBPF attach cookies: Linux 5.15 or newer is needed");
}

static void report_links(struct findings *findings)
{
	if (multi_link__supported())
		findings__add(findings, FINDING_OK, "links", NULL,
			      "one link for many probes works");
	else
		findings__add(findings, FINDING_NOTE, "links", NULL,
			      "no uprobe_multi links (Linux 6.6): attaching is slow, and a running "
			      "program's threads are stopped only at libcuda's most frequently "
			      "called functions");
}

bool kernel__report(struct filetree *tree, struct findings *findings)
{
	struct utsname name;
	bool may_trace;

	uname(&name);
	findings__add(findings, FINDING_OK, "kernel", NULL, "Linux %s on %s", name.release,
		      name.machine);
	report_file(tree, "/sys/kernel/btf/vmlinux", "btf", "the kernel has type information (BTF)",
		    "the kernel has no type information (BTF): CONFIG_DEBUG_INFO_BTF is needed",
		    findings);
	report_file(tree, "/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", "uprobes",
		    "uprobes with semaphores are available",
		    "no uprobes with semaphores: CONFIG_UPROBE_EVENTS is needed", findings);
	if (!filetree__exists(tree, "/sys/kernel/tracing/events") &&
	    !filetree__exists(tree, "/sys/kernel/debug/tracing/events"))
		findings__add(findings, FINDING_NOTE, "tracefs",
			      "mount -t tracefs tracefs /sys/kernel/tracing",
			      "tracefs is not mounted or not readable: cuda-trace does not need "
			      "it, but perf and bpftrace do");
	report_lockdown(tree, findings);
	may_trace = report_rights(findings);
	if (may_trace) {
		report_ebpf(findings);
		report_links(findings);
	}
	return may_trace;
}
