// SPDX-License-Identifier: BSD-2-Clause
/* Called on the tool's one thread. */
#include "cuda-trace/attach/multi_link.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AT_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

/* union bpf_attr of BPF_LINK_CREATE, as Linux 6.6 has it. */
struct link_create {
	uint32_t program;
	uint32_t target;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t semaphores;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

int multi_link__new(int program, const char *path, const struct multi_link_points *points,
		    bool at_return)
{
	struct link_create create = {
		.program = program,
		.attach_type = MULTI_LINK_ATTACH_TYPE,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)points->offsets,
		.semaphores = (uintptr_t)points->semaphores,
		.cookies = (uintptr_t)points->cookies,
		.count = points->count,
		.pid = points->pid,
		.multi_flags = at_return ? AT_RETURN : 0,
	};
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, &create, sizeof(create));

	return fd < 0 ? -errno : fd;
}

/* A kernel that knows the link says of a folder that it is no file to put probes into. */
static bool ask(void)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = MULTI_LINK_ATTACH_TYPE);
	const uint64_t offset = 0;
	const struct multi_link_points points = {.offsets = &offset, .count = 1};
	int program, link;

	program =
		bpf_prog_load(BPF_PROG_TYPE_KPROBE, "multi", "Dual BSD/GPL", nothing, 2, &options);
	if (program < 0)
		return false;
	link = multi_link__new(program, "/", &points, false);
	close(program);
	if (link >= 0)
		close(link);
	return link == -EBADF;
}

/* So that what older kernels get can be tried on newer ones. */
static bool is_unwanted(void)
{
	const char *links = getenv("CUDA_TRACE_LINKS");

	return links && !strcmp(links, "single");
}

bool multi_link__supported(void)
{
	static int known = -1;

	if (known < 0)
		known = !is_unwanted() && ask();
	return known;
}
