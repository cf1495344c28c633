// SPDX-License-Identifier: BSD-2-Clause
/* One thread. Files are any user's: limits are each user's. */
#include "cuda-trace/driver/nccl_probes.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/event.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/driver/elf_symbols.h"
#include "cuda-trace/driver/nccl_layout.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/foreign/left_out.h"
#include "cuda-trace/proc/process_maps.h"

#define MAX_FILES      256
#define MAX_IDLE       30
#define MAX_USER_FILES 16 /* of any user but root */

static const struct {
	const char *name;
	uint8_t function;
	bool makes; /* a communicator, whose address is known when it returns */
} functions[] = {
	{"ncclAllReduce", NCCL_ALL_REDUCE, false},
	{"ncclBroadcast", NCCL_BROADCAST, false}, /* ncclBcast() calls it */
	{"ncclReduce", NCCL_REDUCE, false},
	{"ncclAllGather", NCCL_ALL_GATHER, false},
	{"ncclReduceScatter", NCCL_REDUCE_SCATTER, false},
	{"ncclAlltoAll", NCCL_ALL_TO_ALL, false},
	{"ncclGather", NCCL_GATHER, false},
	{"ncclScatter", NCCL_SCATTER, false},
	{"ncclSend", NCCL_SEND, false},
	{"ncclRecv", NCCL_RECV, false},
	{"ncclGroupStart", NCCL_GROUP_START, false},
	{"ncclGroupEnd", NCCL_GROUP_END, false},
	{"ncclCommInitRank", NCCL_INIT_RANK, true},
	{"ncclCommInitRankConfig", NCCL_INIT_RANK, true},
	{"ncclCommInitRankScalable", NCCL_INIT_SCALABLE, true},
	{"ncclCommInitAll", NCCL_INIT_ALL, true},
	{"ncclCommSplit", NCCL_SPLIT, true},
	/* Not probed: their code is read. */
	{"ncclCommUserRank", 0, false},
	{"ncclCommCount", 0, false},
	{"ncclCommCuDevice", 0, false},
};

#define COUNT  (sizeof(functions) / sizeof(functions[0]))
#define PROBED (COUNT - NCCL_ACCESSORS)

static const char *const programs[] = {"nccl_entry", "nccl_return"};

struct probed_nccl {
	struct foreign_file file; /* closed, without links, where it has no such functions */
	uint32_t user;
	uint32_t pid;  /* a process that maps it */
	uint32_t idle; /* rounds since it has ended, without another one that was looked at */
	int links[2];  /* entries, returns; below 0 = none */
};

struct nccl_probes {
	struct bpf_object *object;
	struct left_out *left_out;
	bool verbose, complained;
	struct probed_nccl files[MAX_FILES];
	uint32_t count;
};

struct nccl_probes *nccl_probes__new(struct bpf_object *object, bool wanted, bool verbose,
				     struct left_out *left_out)
{
	struct nccl_probes *probes = NULL;

	if (wanted && multi_link__supported())
		probes = calloc(1, sizeof(*probes));
	for (int i = 0; i < 2; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(object, programs[i]);

		if (probes)
			bpf_program__set_expected_attach_type(program, MULTI_LINK_ATTACH_TYPE);
		else
			bpf_program__set_autoload(program, false);
	}
	if (!probes)
		return NULL;
	probes->object = object;
	probes->verbose = verbose;
	probes->left_out = left_out;
	return probes;
}

/* In the background: it takes the kernel 100 ms each. */
static void release(struct probed_nccl *nccl)
{
	for (int i = 0; i < 2; i++)
		if (nccl->links[i] >= 0)
			link_closer__close(nccl->links[i]);
	foreign_file__close(&nccl->file);
}

void nccl_probes__free(struct nccl_probes *probes)
{
	for (uint32_t i = 0; probes && i < probes->count; i++)
		release(&probes->files[i]);
	free(probes);
}

static int link_functions(const struct nccl_probes *probes, struct probed_nccl *nccl,
			  const struct elf_symbol *symbols, uint64_t rank_at, bool returns)
{
	uint64_t offsets[COUNT], cookies[COUNT];
	struct multi_link_points points = {.offsets = offsets, .cookies = cookies};

	for (size_t i = 0; i < PROBED; i++) {
		if (!symbols[i].offset || (returns && !functions[i].makes))
			continue;
		offsets[points.count] = symbols[i].probe;
		cookies[points.count++] = functions[i].function | rank_at << 32;
	}
	if (!points.count)
		return -ENOENT;
	return multi_link__new(bpf_program__fd(bpf_object__find_program_by_name(probes->object,
										programs[returns])),
			       nccl->file.path, &points, returns);
}

static void say(struct nccl_probes *probes, const struct probed_nccl *nccl, int err)
{
	char shown[256];

	if (err && err != -ENOENT && err != -ENOEXEC && err != -EALREADY && !probes->complained) {
		probes->complained = true;
		fprintf(stderr, "cuda-trace: collectives of %s are not observed: %s\n",
			foreign_file__show(nccl->file.path, shown, sizeof(shown)), strerror(-err));
	} else if (!err && probes->verbose) {
		fprintf(stderr, "cuda-trace: %s: collectives are observed\n",
			foreign_file__show(nccl->file.path, shown, sizeof(shown)));
	}
}

/* The returns first: a call whose entry is observed is seen to return. */
static void probe(struct nccl_probes *probes, struct probed_nccl *nccl)
{
	struct elf_symbol symbols[COUNT] = {};
	uint64_t rank_at;
	int err;

	for (size_t i = 0; i < COUNT; i++)
		symbols[i].name = functions[i].name;
	err = elf_symbols__find(&nccl->file, symbols, COUNT);
	if (!err) {
		rank_at = nccl_layout__rank_at(&nccl->file, &symbols[PROBED]);
		nccl->links[1] = link_functions(probes, nccl, symbols, rank_at, true);
		nccl->links[0] = link_functions(probes, nccl, symbols, rank_at, false);
		err = nccl->links[0] < 0 ? nccl->links[0] : 0;
	}
	if (err && err != -ENOENT && err != -ENOEXEC)
		left_out__add(probes->left_out, LEFT_OUT_FILES, nccl->user, nccl->file.inode,
			      "a copy of NCCL that cannot be probed");
	say(probes, nccl, err);
}

static bool has_too_many(const struct nccl_probes *probes, uint32_t user)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < probes->count; i++)
		count += probes->files[i].user == user;
	return probes->count == MAX_FILES || (user && count >= MAX_USER_FILES);
}

void nccl_probes__look(struct nccl_probes *probes, uint32_t pid)
{
	struct probed_nccl *nccl;
	struct foreign_file file;
	struct inspection seen;

	if (!probes || process_maps__process(pid, &seen) || !*seen.nccl ||
	    foreign_file__open_mapped(&file, pid, seen.nccl_range, seen.nccl))
		return;
	for (uint32_t i = 0; i < probes->count; i++) {
		if (!foreign_file__is_same(&probes->files[i].file, &file))
			continue;
		probes->files[i].pid = pid;
		probes->files[i].idle = 0;
		foreign_file__close(&file);
		return;
	}
	if (has_too_many(probes, seen.uid)) {
		left_out__add(probes->left_out, LEFT_OUT_FILES, seen.uid, file.inode,
			      "too many copies of NCCL");
		foreign_file__close(&file);
		return;
	}
	nccl = &probes->files[probes->count++];
	*nccl = (struct probed_nccl){.file = file, .user = seen.uid, .pid = pid, .links = {-1, -1}};
	probe(probes, nccl);
}

/* Others may map it, too: each is looked at again within this time. */
void nccl_probes__prune(struct nccl_probes *probes)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; probes && i < probes->count; i++) {
		if (kill(probes->files[i].pid, 0) && errno == ESRCH &&
		    ++probes->files[i].idle > MAX_IDLE)
			release(&probes->files[i]);
		else
			probes->files[kept++] = probes->files[i];
	}
	if (probes)
		probes->count = kept;
}
