// SPDX-License-Identifier: BSD-2-Clause
// Forbids itself system calls after cuInit(), and launches.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] = "usage: sandboxed [HOW [MS]]\n"
			   "Launches each millisecond for MS milliseconds (3000). From its first "
			   "launch on new threads, files,\n"
			   "mappings and the like are forbidden: HOW is kill (the default), errno "
			   "(they fail with EPERM), or before\n"
			   "(a filter that forbids nothing, before cuInit(), as in a container).\n";

#ifndef SYS_open
#define SYS_open -1 /* arm64 has openat() alone */
#endif

static void set_filter(uint32_t action)
{
	static const int forbidden[] = {SYS_clone,    SYS_clone3, SYS_open,    SYS_openat,
					SYS_mincore,  SYS_prctl,  SYS_seccomp, SYS_socket,
					SYS_mprotect, SYS_mmap,	  SYS_pread64, SYS_madvise};
	enum { COUNT = sizeof(forbidden) / sizeof(forbidden[0]) };
	struct sock_filter code[COUNT + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	const struct sock_fprog program = {COUNT + 3, code};

	for (int i = 0; i < COUNT; i++)
		code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)forbidden[i], COUNT - i, 0);
	code[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		program__fail("sandboxed: no filter: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};
	const struct timespec pause = {0, 1000000};
	const char *how = argc > 1 ? argv[1] : "kill";
	struct program program;
	CUfunction empty;
	uint64_t ms, until;

	if (!strcmp(how, "--help"))
		return fputs(help, stdout), 0;
	ms = argc > 2 ? program__number(argv[2], "MS") : 3000;
	if (!strcmp(how, "before"))
		set_filter(SECCOMP_RET_ALLOW);
	program__start(&program);
	empty = program__kernel(&program, "empty");
	program__check(counted__launch(empty, &shape, NULL, NULL), "cuLaunchKernel");
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	puts("ready");
	fflush(stdout);
	if (!strcmp(how, "kill"))
		set_filter(SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(how, "errno"))
		set_filter(SECCOMP_RET_ERRNO | EPERM);
	for (until = program__now() + ms * 1000000; program__now() < until;) {
		program__check(counted__launch(empty, &shape, NULL, NULL), "cuLaunchKernel");
		nanosleep(&pause, NULL);
	}
	program__check(counted__context_synchronize(), "cuCtxSynchronize");
	program__expect();
	return 0;
}
