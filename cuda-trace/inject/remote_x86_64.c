// SPDX-License-Identifier: BSD-2-Clause
/*
 * The frame is the kernel's own; above it lie the extended registers, as XSAVE writes them, with
 * the marks that the kernel looks for.
 */
#if defined(__x86_64__)
#include "cuda-trace/inject/remote_machine.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "cuda-trace/inject/injection_target.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#endif

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

/* The block is in rbx. */
__asm__(".pushsection .rodata\n"
	".globl remote_machine_code, remote_machine_code_end\n"
	"remote_machine_code:\n"
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
	"remote_machine_code_end:\n"
	".popsection\n");

const uint64_t remote_machine_red_zone = 128;

int remote_machine__where(pid_t thread, uint64_t *instruction, uint64_t *stack)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread, 0, &registers))
		return -errno;
	*instruction = registers.rip;
	*stack = registers.rsp;
	return 0;
}

uint64_t remote_machine__address(uint64_t stored)
{
	return stored;
}

/* An entry of a procedure linkage table: jmp *, with endbr64 or bnd before it where the linker adds
 * them. */
static bool is_table_entry(const struct injection_target *target, uint64_t address)
{
	uint8_t code[8], *at = code;

	if (pread(target->memory, code, sizeof(code), address) != sizeof(code))
		return false;
	if (code[0] == 0xf3)
		at += 4;
	at += *at == 0xf2;
	return at[0] == 0xff && at[1] == 0x25;
}

/* call rel32 to such an entry, or a call through a register or memory (ff /2), which has two to
 * seven bytes. */
bool remote_machine__calls_out(const struct injection_target *target, uint64_t address)
{
	uint8_t before[7];
	int32_t distance;

	if (pread(target->memory, before, sizeof(before), address - sizeof(before)) !=
	    sizeof(before))
		return false;
	memcpy(&distance, before + 3, sizeof(distance));
	if (before[2] == 0xe8 && is_table_entry(target, address + distance))
		return true;
	for (int i = 0; i < 6; i++)
		if (before[i] == 0xff && (before[i + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* The arguments stay in registers. */
void remote_machine__note_sleep(pid_t thread, struct remote_sleep *sleep)
{
}

/* What the kernel answers where a system call was interrupted by a stop alone. */
static bool is_interrupted(int64_t result)
{
	return result == -EINTR || (result <= -512 && result >= -516 && result != -515);
}

int remote_machine__restart(pid_t thread, const struct remote_sleep *sleep, bool goes_on)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread, 0, &registers))
		return -errno;
	if ((int64_t)registers.orig_rax < 0)
		return -EAGAIN;
	if (!is_interrupted(registers.rax) || (goes_on && (int64_t)registers.rax != -EINTR))
		return 0; /* it was about to return */
	registers.rax = registers.orig_rax;
	registers.rip -= 2;
	return ptrace(PTRACE_SETREGS, thread, 0, &registers) ? -errno : 0;
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
	return remote_call__write(target, *top, area, software.extended_size);
}

static int write_frame(const struct injection_target *target, pid_t thread,
		       const struct user_regs_struct *registers, uint64_t *top)
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
				.extended = *top,
			},
	};

	if (ptrace(PTRACE_GETSIGMASK, thread, sizeof(frame.mask), &frame.mask))
		return -errno;
	*top = (*top - sizeof(frame)) & ~15ull;
	return remote_call__write(target, *top, &frame, sizeof(frame));
}

int remote_machine__push_frame(const struct injection_target *target, pid_t thread, uint64_t *top)
{
	struct user_regs_struct registers;
	int error;

	if (ptrace(PTRACE_GETREGS, thread, 0, &registers))
		return -errno;
	error = write_extended(target, thread, top);
	return error ? error : write_frame(target, thread, &registers, top);
}

int remote_machine__jump(pid_t thread, uint64_t code, uint64_t block)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread, 0, &registers))
		return -errno;
	registers.rip = code;
	registers.rsp = block - 64;
	registers.rbx = block;
	registers.rax = 0;
	registers.orig_rax = -1;       /* no system call is to be restarted by the kernel */
	registers.eflags &= ~0x400ull; /* functions expect the direction flag to be clear */
	return ptrace(PTRACE_SETREGS, thread, 0, &registers) ? -errno : 0;
}

#endif
