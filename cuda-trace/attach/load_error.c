// SPDX-License-Identifier: BSD-2-Clause
/* Only what the verifier or the BPF system call itself refuses is the kernel's refusal. */
#include "cuda-trace/attach/load_error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Fewer are not enough for a program and its maps. libbpf makes another error of some of those that
 * it could not open. */
#define FEW_FILES 128

static uint64_t file_limit(void)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

bool load_error__is_limit(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || file_limit() < FEW_FILES;
}

void load_error__say(const char *program, int err)
{
	if (err == -EMFILE || file_limit() < FEW_FILES)
		fprintf(stderr,
			"cuda-trace: %s cannot be loaded: this process may open %" PRIu64
			" files at most; raise the limit (ulimit -n 1024)\n",
			program, file_limit());
	else if (load_error__is_limit(err))
		fprintf(stderr, "cuda-trace: %s cannot be loaded: %s\n", program, strerror(-err));
	else
		fprintf(stderr,
			"cuda-trace: the kernel refused %s (%s); Linux 5.15 or newer is needed; "
			"CUDA_TRACE_DEBUG=1 shows its reasons\n",
			program, strerror(-err));
}
