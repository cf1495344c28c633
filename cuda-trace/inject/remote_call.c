// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64. What the call needs lies on the thread's stack, below its red zone:
 *
 *   extended registers (as XSAVE writes them, with the marks that the kernel looks for)
 *   signal frame (struct frame)
 *   call block (struct call_block)
 *   the stack of the call
 */
#include "cuda-trace/inject/remote_call.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "cuda-trace/inject/injection_target.h"

/* What the code in the process reads and writes, by rbx. */
struct call_block {
	uint64_t dlopen, dlsym, errno_location; /* 0, 8, 16 */
	uint64_t path, symbol;			/* 24, 32: addresses of the texts below */
	uint64_t frame;				/* 40 */
	uint64_t state;				/* 48: enum remote_call_state */
	uint64_t error_address;			/* 56: of the thread's errno */
	uint64_t error;				/* 64: its value */
	uint64_t descriptor;			/* 72: of the copy, -1 = not made yet */
	uint64_t is_filled;			/* 80 */
	uint64_t wants_copy;			/* 88 */
	int64_t pause[2];			/* 96: struct timespec */
	uint64_t turns;				/* 112: how often to pause at most */
	char path_text[REMOTE_CALL_PATH];	/* 120 */
	char symbol_text[24];
	char name_text[24]; /* of the copy */
};

#define COPY_NAME "libcupti-usdt.so"

#if defined(__x86_64__)

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#endif

#define RED_ZONE	 128
#define XSTATE_MAX	 16384
#define FP_XSTATE_MAGIC1 0x46505853u
#define FP_XSTATE_MAGIC2 0x46505845u
#define XSTATE_SOFTWARE	 464 /* where the frame's marks lie in the legacy area */

/* As the kernel's struct sigcontext and struct ucontext. */
struct machine_context {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, cr2, extended, reserved[8];
};

struct frame {
	uint64_t flags, link;
	uint64_t stack_address, stack_flags, stack_size;
	struct machine_context registers;
	uint64_t mask;
};

#define FRAME_FLAGS 7 /* UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */

_Static_assert(offsetof(struct call_block, state) == 48, "the code below has these numbers");
_Static_assert(offsetof(struct call_block, wants_copy) == 88, "the code below has these numbers");
_Static_assert(offsetof(struct call_block, turns) == 112, "the code below has these numbers");
_Static_assert(offsetof(struct call_block, name_text) == 120 + REMOTE_CALL_PATH + 24,
	       "the code below has these numbers");
_Static_assert(REMOTE_CALL_PATH == 256, "the code below has these numbers");

/*
 * What the thread executes; never called in this process. It keeps the thread's errno, makes a
 * memory file for the copy of the agent where its own file system has none, and waits for it to be
 * filled, for a second at most. Ends with rt_sigreturn in any case.
 */
extern const uint8_t remote_call_code[], remote_call_code_end[];
__asm__(".pushsection .rodata\n"
	"remote_call_code:\n"
	"	call *16(%rbx)\n" /* __errno_location() */
	"	mov %rax, 56(%rbx)\n"
	"	mov (%rax), %eax\n"
	"	mov %rax, 64(%rbx)\n"
	"	cmpq $0, 88(%rbx)\n"
	"	je 2f\n"
	"	lea 400(%rbx), %rdi\n"
	"	mov $1, %esi\n"	  /* MFD_CLOEXEC */
	"	mov $319, %eax\n" /* memfd_create */
	"	syscall\n"
	"	mov %rax, 72(%rbx)\n"
	"1:	cmpq $0, 80(%rbx)\n"
	"	jne 2f\n"
	"	decq 112(%rbx)\n"
	"	js 5f\n"
	"	lea 96(%rbx), %rdi\n"
	"	xor %esi, %esi\n"
	"	mov $35, %eax\n" /* nanosleep */
	"	syscall\n"
	"	jmp 1b\n"
	"5:	movq $4, 48(%rbx)\n"
	"	jmp 4f\n"
	"2:	mov 24(%rbx), %rdi\n"
	"	mov $2, %esi\n" /* RTLD_NOW */
	"	call *0(%rbx)\n"
	"	movq $2, %r12\n"
	"	test %rax, %rax\n"
	"	jz 3f\n"
	"	mov %rax, %rdi\n"
	"	mov 32(%rbx), %rsi\n"
	"	call *8(%rbx)\n"
	"	movq $3, %r12\n"
	"	test %rax, %rax\n"
	"	jz 3f\n"
	"	call *%rax\n"
	"	movq $1, %r12\n"
	"3:	cmpq $0, 88(%rbx)\n"
	"	je 6f\n"
	"	mov 72(%rbx), %rdi\n"
	"	mov $3, %eax\n" /* close */
	"	syscall\n"
	"6:	mov %r12, 48(%rbx)\n"
	"4:	mov 56(%rbx), %rcx\n"
	"	mov 64(%rbx), %rax\n"
	"	mov %eax, (%rcx)\n"
	"	mov 40(%rbx), %rsp\n"
	"	mov $15, %eax\n" /* rt_sigreturn */
	"	syscall\n"
	"remote_call_code_end:\n"
	".popsection\n");

bool remote_call__can_overwrite(const uint8_t bytes[], size_t size)
{
	size_t code = remote_call_code_end - remote_call_code, first = 0;

	if (code <= size && !memcmp(bytes, remote_call_code, code))
		first = code;
	for (size_t i = first; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

int remote_call__where(pid_t thread, uint64_t *instruction, uint64_t *stack)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread, 0, &registers))
		return -errno;
	*instruction = registers.rip;
	*stack = registers.rsp;
	return 0;
}

/* call rel32, or a call through a register or memory (ff /2), which has two to seven bytes. */
bool remote_call__is_return(const struct injection_target *target, uint64_t address)
{
	uint8_t before[7];

	if (pread(target->memory, before, sizeof(before), address - sizeof(before)) !=
	    sizeof(before))
		return false;
	if (before[2] == 0xe8)
		return true;
	for (int i = 0; i < 6; i++)
		if (before[i] == 0xff && (before[i + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* What the kernel answers where a system call was interrupted by a stop alone. */
static bool is_interrupted(int64_t result)
{
	return result == -EINTR || (result <= -512 && result >= -516 && result != -515);
}

/* The system call is made again when the thread returns: its arguments are still in registers. */
static int restart_call(struct user_regs_struct *registers)
{
	if ((int64_t)registers->orig_rax < 0)
		return -EAGAIN;
	if (!is_interrupted(registers->rax))
		return 0; /* it was about to return */
	registers->rax = registers->orig_rax;
	registers->rip -= 2;
	return 0;
}

/* A handler is about to run: then the call must end with EINTR, as it would have. */
static bool has_signal(pid_t thread)
{
	unsigned long long mine = 0, shared = 0, blocked = 0, caught = 0;
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		sscanf(line, "SigPnd: %llx", &mine);
		sscanf(line, "ShdPnd: %llx", &shared);
		sscanf(line, "SigBlk: %llx", &blocked);
		sscanf(line, "SigCgt: %llx", &caught);
	}
	if (status)
		fclose(status);
	return (mine | shared) & caught & ~blocked;
}

void remote_call__resume(pid_t thread)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread, 0, &registers) || (int64_t)registers.rax != -EINTR ||
	    has_signal(thread) || restart_call(&registers))
		return;
	ptrace(PTRACE_SETREGS, thread, 0, &registers);
}

static int write_memory(const struct injection_target *target, uint64_t address, const void *data,
			size_t size)
{
	return pwrite(target->memory, data, size, address) == (ssize_t)size ? 0 : -EFAULT;
}

/* Writes the extended registers as the kernel's own signal frames have them. */
static int write_extended(const struct injection_target *target, pid_t thread, uint64_t *top)
{
	static uint8_t area[XSTATE_MAX + 64];
	struct iovec registers = {area, XSTATE_MAX};
	const uint32_t end_mark = FP_XSTATE_MAGIC2;
	struct {
		uint32_t mark, extended_size;
		uint64_t features;
		uint32_t size, padding[7];
	} software = {.mark = FP_XSTATE_MAGIC1};

	_Static_assert(sizeof(software) == 48, "the area is the kernel's struct _fpx_sw_bytes");
	if (ptrace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &registers))
		return -errno;
	if (registers.iov_len < 576)
		return -EOPNOTSUPP; /* no XSAVE */
	/* ptrace keeps the features that the kernel enables (XCR0) in the same place. */
	memcpy(&software.features, area + XSTATE_SOFTWARE, sizeof(software.features));
	software.size = registers.iov_len;
	software.extended_size = registers.iov_len + sizeof(end_mark);
	memcpy(area + XSTATE_SOFTWARE, &software, sizeof(software));
	memcpy(area + registers.iov_len, &end_mark, sizeof(end_mark));
	*top = (*top - software.extended_size) & ~63ull;
	return write_memory(target, *top, area, software.extended_size);
}

static int write_frame(const struct injection_target *target, pid_t thread,
		       const struct user_regs_struct *registers, uint64_t extended,
		       uint64_t *address)
{
	struct frame frame = {
		.flags = FRAME_FLAGS,
		.registers =
			{
				.r8 = registers->r8,
				.r9 = registers->r9,
				.r10 = registers->r10,
				.r11 = registers->r11,
				.r12 = registers->r12,
				.r13 = registers->r13,
				.r14 = registers->r14,
				.r15 = registers->r15,
				.rdi = registers->rdi,
				.rsi = registers->rsi,
				.rbp = registers->rbp,
				.rbx = registers->rbx,
				.rdx = registers->rdx,
				.rax = registers->rax,
				.rcx = registers->rcx,
				.rsp = registers->rsp,
				.rip = registers->rip,
				.eflags = registers->eflags,
				.cs = registers->cs,
				.ss = registers->ss,
				.extended = extended,
			},
	};

	if (ptrace(PTRACE_GETSIGMASK, thread, sizeof(frame.mask), &frame.mask))
		return -errno;
	*address = (extended - sizeof(frame)) & ~15ull;
	return write_memory(target, *address, &frame, sizeof(frame));
}

static int write_block(struct remote_call *call, const struct injection_target *target,
		       const char *path, uint64_t frame)
{
	struct call_block block = {
		.dlopen = target->dlopen,
		.dlsym = target->dlsym,
		.errno_location = target->errno_location,
		.frame = frame,
		.descriptor = -1,
		.wants_copy = call->copy >= 0,
		.pause = {0, 1000000},
		.turns = 1000,
		.symbol_text = "InitializeInjection",
		.name_text = COPY_NAME,
	};

	if (strlen(path) >= sizeof(block.path_text))
		return -ENAMETOOLONG;
	strcpy(block.path_text, path);
	call->block = (frame - sizeof(block)) & ~63ull;
	block.path = call->block + offsetof(struct call_block, path_text);
	block.symbol = call->block + offsetof(struct call_block, symbol_text);
	return write_memory(target, call->block, &block, sizeof(block));
}

int remote_call__begin(struct remote_call *call, const struct injection_target *target,
		       pid_t thread, const char *path, int copy, bool in_system_call)
{
	size_t code_size = remote_call_code_end - remote_call_code;
	struct user_regs_struct saved, changed;
	uint64_t extended, frame = 0;
	int error = 0;

	*call = (struct remote_call){.thread = thread, .copy = copy};
	if (code_size > TARGET_CODE_SIZE)
		return -E2BIG;
	if (ptrace(PTRACE_GETREGS, thread, 0, &saved))
		return -errno;
	extended = saved.rsp - RED_ZONE;
	if (in_system_call)
		error = has_signal(thread) ? -EAGAIN : restart_call(&saved);
	error = error ? error : write_extended(target, thread, &extended);
	error = error ? error : write_frame(target, thread, &saved, extended, &frame);
	error = error ? error : write_block(call, target, path, frame);
	error = error ? error : write_memory(target, target->code, remote_call_code, code_size);
	if (error)
		return error;
	changed = saved;
	changed.rip = target->code;
	changed.rsp = call->block - 64;
	changed.rbx = call->block;
	changed.rax = 0;
	changed.orig_rax = -1;	     /* no system call is to be restarted by the kernel */
	changed.eflags &= ~0x400ull; /* functions expect the direction flag to be clear */
	return ptrace(PTRACE_SETREGS, thread, 0, &changed) ? -errno : 0;
}

#else

bool remote_call__can_overwrite(const uint8_t bytes[], size_t size)
{
	return false;
}

int remote_call__where(pid_t thread, uint64_t *instruction, uint64_t *stack)
{
	return -EOPNOTSUPP;
}

bool remote_call__is_return(const struct injection_target *target, uint64_t address)
{
	return false;
}

void remote_call__resume(pid_t thread)
{
}

int remote_call__begin(struct remote_call *call, const struct injection_target *target,
		       pid_t thread, const char *path, int copy, bool in_system_call)
{
	return -EOPNOTSUPP;
}

#endif

/*
 * Through the process's own descriptor, with what it may do by it: a path below /proc/PID/fd would
 * be opened with this process's rights, whatever the descriptor is of by then.
 */
static int fill(const struct remote_call *call, const struct injection_target *target,
		uint64_t descriptor)
{
	int process = syscall(SYS_pidfd_open, target->pid, 0);
	int file = process < 0 ? -1 : syscall(SYS_pidfd_getfd, process, (int)descriptor, 0);
	struct stat original;
	off_t offset = 0;
	int error = file < 0 || fstat(call->copy, &original) ? -errno : 0;

	while (!error && offset < original.st_size)
		if (sendfile(file, call->copy, &offset, original.st_size - offset) <= 0)
			error = -EIO;
	if (file >= 0)
		close(file);
	if (process >= 0)
		close(process);
	return error;
}

/* The process has made a memory file: fills it and says under which name it can be loaded. */
static void serve_copy(struct remote_call *call, const struct injection_target *target)
{
	char path[REMOTE_CALL_PATH] = "";
	struct call_block block;
	const uint64_t filled = 1;

	if (pread(target->memory, &block, sizeof(block), call->block) != sizeof(block) ||
	    (int64_t)block.descriptor < 0 || block.is_filled)
		return;
	if (fill(call, target, block.descriptor))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)block.descriptor);
	/* Where that fails the process is ending, and the call with it. */
	if (pwrite(target->memory, path, sizeof(path),
		   call->block + offsetof(struct call_block, path_text)) != sizeof(path) ||
	    pwrite(target->memory, &filled, sizeof(filled),
		   call->block + offsetof(struct call_block, is_filled)) != sizeof(filled))
		call->copy = -1;
}

enum remote_call_state remote_call__state(struct remote_call *call,
					  const struct injection_target *target)
{
	uint64_t state;

	if (call->copy >= 0)
		serve_copy(call, target);
	if (pread(target->memory, &state, sizeof(state),
		  call->block + offsetof(struct call_block, state)) != sizeof(state))
		return REMOTE_CALL_LOST;
	return state < REMOTE_CALL_LOST ? state : REMOTE_CALL_LOST;
}
