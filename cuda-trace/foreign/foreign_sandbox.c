// SPDX-License-Identifier: BSD-2-Clause
/*
 * Called in a child of fork() alone. Some limits cannot be set under a service manager's filter of
 * system calls, and in a user namespace there may be no other user: the seccomp filter is what
 * counts, and without it nothing is read.
 */
#include "cuda-trace/foreign/foreign_sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY	   65534
#define RING_BYTES (1u << 20)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* their runtime needs more memory and system calls */
#else
#define SANITIZED 0
#endif

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static void limit(int what, rlim_t most)
{
	setrlimit(what, &(struct rlimit){most, most});
}

static bool each_shared(void (*handle)(void *start, size_t size, const char *line))
{
	unsigned long long start, end;
	char line[4608], perms[8];
	FILE *maps = fopen("/proc/self/maps", "re");

	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %7s", &start, &end, perms) == 3 && perms[3] == 's')
			handle((void *)(uintptr_t)start, end - start, line);
	fclose(maps);
	return true;
}

static void unmap(void *start, size_t size, const char *line)
{
	munmap(start, size);
}

/* eBPF maps and ring buffers: what is written there the tool would believe. */
bool foreign_sandbox__unmap_shared(void)
{
	return each_shared(unmap);
}

static void withhold(void *start, size_t size, const char *line)
{
	if (size >= RING_BYTES && strstr(line, "bpf-map"))
		madvise(start, size, MADV_DONTFORK);
}

void foreign_sandbox__withhold_rings(void)
{
	each_shared(withhold);
}

static bool keep_only(int in, int out)
{
	int first = fcntl(in, F_DUPFD, 3), second = fcntl(out, F_DUPFD, 3);

	if (first < 0 || second < 0 || dup2(first, SANDBOX_IN) < 0 || dup2(second, SANDBOX_OUT) < 0)
		return false;
	if (!SANITIZED)
		close(STDERR_FILENO);
	return !close_range(3, ~0u, 0);
}

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {};

	/* In a user namespace of one user there is no other one. */
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		limit(RLIMIT_NPROC, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return !syscall(SYS_capset, &header, none);
}

#ifdef ARCHITECTURE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW(number)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static bool filter_calls(void)
{
	/* Little-endian: the lower half of an argument comes first. */
	static struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		KILL,
		LOAD(nr),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(write),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(brk),
		ALLOW(futex),
		ALLOW(getrandom),
		ALLOW(clock_gettime),
		ALLOW(rt_sigreturn),
		ALLOW(exit),
		ALLOW(exit_group),
		/* Memory, but no file, and nothing that can be executed. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 4),
		LOAD(args[3]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 2),
		LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		KILL,
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#else
static bool filter_calls(void)
{
	return true;
}
#endif

bool foreign_sandbox__confine(size_t memory, unsigned int seconds, bool filter)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CPU, seconds);
	if (!SANITIZED)
		limit(RLIMIT_AS, memory);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || !drop_capabilities())
		return false;
	/* A change of the user clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return SANITIZED || !filter || filter_calls();
}

bool foreign_sandbox__enter(int in, int out, size_t memory, unsigned int seconds)
{
	sigset_t none;

	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return foreign_sandbox__unmap_shared() && keep_only(in, out) &&
	       foreign_sandbox__confine(memory, seconds, true);
}
