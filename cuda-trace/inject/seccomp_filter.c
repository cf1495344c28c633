// SPDX-License-Identifier: BSD-2-Clause
/*
 * The filters are classic BPF programs; they are run here on the calls in question, one after the
 * other. Their answers are compared as the kernel does: the strictest one counts.
 */
#include "cuda-trace/inject/seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

#define FILTERS_MAX	 64
#define INSTRUCTIONS_MAX 4096 /* BPF_MAXINSNS */

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#define THIS_ARCH 0
#endif

#define THREAD_FLAGS                                                                        \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | \
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

#define COUNT(calls) (sizeof(calls) / sizeof((calls)[0]))

#define CALL(name, ...)             \
	{                           \
#name, SYS_##name,  \
		{                   \
			__VA_ARGS__ \
		}                   \
	}

static const struct needed_call {
	const char *name;
	int number;
	uint64_t arguments[6];
} needed[] = {
	CALL(mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, 3, 0),
	CALL(mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~0ull, 0),
	CALL(mprotect, 0, 4096, PROT_READ),
	CALL(munmap, 0, 4096),
	CALL(brk, 0),
	CALL(madvise, 0, 4096, MADV_DONTNEED),
	CALL(openat, (uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC),
	CALL(read, 3),
	CALL(pread64, 3),
	CALL(close, 3),
	CALL(newfstatat, 3),
	CALL(lseek, 3),
	CALL(clone, THREAD_FLAGS),
	CALL(set_robust_list, 0),
	CALL(futex, 0),
	CALL(rt_sigprocmask, 0),
	CALL(rt_sigreturn, 0),
	CALL(prctl, PR_SET_NAME),
	CALL(gettid, 0),
	CALL(getpid, 0),
	CALL(clock_nanosleep, 0),
	CALL(ioctl, 3),
	CALL(memfd_create, 0, MFD_CLOEXEC),
	CALL(nanosleep, 0),
	CALL(exit, 0),
};

/* The agent does without these if they fail. */
static const struct needed_call attempted[] = {
	CALL(getdents64, 3),
	CALL(sched_getaffinity, 0),
	CALL(sched_setaffinity, 0),
	CALL(mincore, 0, 4096),
	CALL(pwrite64, 3),
	CALL(write, 2),
	CALL(socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0),
	CALL(recvmsg, 3),
#ifdef SYS_poll
	CALL(poll, 0, 1),
	CALL(readlink, 0),
	CALL(access, 0),
#else
	CALL(ppoll, 0, 1),
	CALL(readlinkat, (uint64_t)AT_FDCWD),
	CALL(faccessat, (uint64_t)AT_FDCWD),
#endif
};

static uint32_t load(const struct seccomp_data *data, uint32_t offset, bool *fault)
{
	uint32_t word = 0;

	if (offset % 4 || offset > sizeof(*data) - 4)
		*fault = true;
	else
		memcpy(&word, (const char *)data + offset, 4);
	return word;
}

static uint32_t compute(uint32_t operation, uint32_t a, uint32_t b, bool *fault)
{
	switch (operation) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_OR:
		return a | b;
	case BPF_AND:
		return a & b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return b < 32 ? a << b : 0;
	case BPF_RSH:
		return b < 32 ? a >> b : 0;
	case BPF_NEG:
		return -a;
	default:
		*fault = true;
		return 0;
	}
}

static bool holds(uint32_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b; /* BPF_JSET */
	}
}

/* What the filter answers; SECCOMP_RET_KILL_PROCESS for what is not understood. Jumps lead forward
 * only, so it ends. */
static uint32_t run(const struct sock_filter *code, size_t count, const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {};
	bool fault = false;

	for (size_t at = 0; at < count && !fault; at++) {
		const struct sock_filter *step = &code[at];
		uint32_t operand = BPF_SRC(step->code) == BPF_X ? x : step->k;
		uint32_t slot = step->k % BPF_MEMWORDS;

		switch (BPF_CLASS(step->code)) {
		case BPF_LD:
			a = BPF_MODE(step->code) == BPF_ABS   ? load(data, step->k, &fault)
			    : BPF_MODE(step->code) == BPF_MEM ? memory[slot]
			    : BPF_MODE(step->code) == BPF_LEN ? sizeof(*data)
							      : step->k;
			break;
		case BPF_LDX:
			x = BPF_MODE(step->code) == BPF_MEM   ? memory[slot]
			    : BPF_MODE(step->code) == BPF_LEN ? sizeof(*data)
							      : step->k;
			break;
		case BPF_ST:
			memory[slot] = a;
			break;
		case BPF_STX:
			memory[slot] = x;
			break;
		case BPF_ALU:
			a = compute(BPF_OP(step->code), a, operand, &fault);
			break;
		case BPF_JMP:
			at += BPF_OP(step->code) == BPF_JA
				      ? step->k
				      : (holds(BPF_OP(step->code), a, operand) ? step->jt
									       : step->jf);
			break;
		case BPF_RET:
			return BPF_RVAL(step->code) == BPF_A ? a : step->k;
		default:
			if (BPF_MISCOP(step->code) == BPF_TAX)
				x = a;
			else
				a = x;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

static bool lets_pass(const struct sock_filter *code, size_t count, const struct needed_call *call,
		      bool may_fail)
{
	struct seccomp_data data = {.nr = call->number, .arch = THIS_ARCH};
	uint32_t answer;

	memcpy(data.args, call->arguments, sizeof(call->arguments));
	answer = run(code, count, &data) & SECCOMP_RET_ACTION_FULL;
	return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG ||
	       (may_fail && answer == SECCOMP_RET_ERRNO);
}

/* NULL = all of them. */
static const char *first_stopped(const struct sock_filter *code, size_t count,
				 const struct needed_call *calls, size_t call_count, bool may_fail)
{
	for (size_t i = 0; i < call_count; i++)
		if (!lets_pass(code, count, &calls[i], may_fail))
			return calls[i].name;
	return NULL;
}

/* glibc asks for this first, and takes an answer for "not there" as one. */
static bool answers_clone3(const struct sock_filter *code, size_t count)
{
	const struct seccomp_data data = {.nr = SYS_clone3, .arch = THIS_ARCH};
	uint32_t answer = run(code, count, &data);

	return answer == (SECCOMP_RET_ERRNO | ENOSYS) ||
	       (answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW;
}

int seccomp_filter__check(pid_t thread, const char **call)
{
	static struct sock_filter code[INSTRUCTIONS_MAX];

	for (long filter = 0; filter < FILTERS_MAX; filter++) {
		long count = ptrace(PTRACE_SECCOMP_GET_FILTER, thread, filter, code);

		if (count < 0)
			return errno == ENOENT && filter ? 0 : -errno;
		*call = answers_clone3(code, count)
				? first_stopped(code, count, needed, COUNT(needed), false)
				: "clone3";
		if (!*call)
			*call = first_stopped(code, count, attempted, COUNT(attempted), true);
		if (*call)
			return -EACCES;
	}
	return -E2BIG;
}
