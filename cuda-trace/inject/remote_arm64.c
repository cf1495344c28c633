// SPDX-License-Identifier: BSD-2-Clause
/*
 * The frame is the kernel's own. Of vector registers it has the 128 bits that functions may rely on
 * across a call; what SVE adds is lost in calls and system calls anyway, and those are where
 * threads are stopped.
 */
#if defined(__aarch64__)
#include "cuda-trace/inject/remote_machine.h"

#include <asm/sigcontext.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cuda-trace/inject/injection_target.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#endif

struct registers {
	uint64_t x[31], sp, pc, pstate;
};

struct vectors {
	__uint128_t v[32];
	uint32_t fpsr, fpcr, reserved[2];
};

/* As the kernel's struct rt_sigframe. */
struct frame {
	uint8_t info[128];
	ucontext_t context;
};

_Static_assert(sizeof(struct registers) == 272, "NT_PRSTATUS");
_Static_assert(offsetof(ucontext_t, uc_mcontext) == 176, "as the kernel has it");

/* The block is in x19. */
__asm__(".pushsection .rodata\n"
	".balign 4\n"
	".globl remote_machine_code, remote_machine_code_end\n"
	"remote_machine_code:\n"
	"	ldr x9, [x19, #16]\n" /* __errno_location() */
	"	blr x9\n"
	"	str x0, [x19, #56]\n"
	"	ldr w1, [x0]\n"
	"	str x1, [x19, #64]\n"
	"	ldr x9, [x19, #88]\n"
	"	cbz x9, 2f\n"
	"	add x0, x19, #400\n"
	"	mov x1, #1\n"	/* MFD_CLOEXEC */
	"	mov x8, #279\n" /* memfd_create */
	"	svc #0\n"
	"	str x0, [x19, #72]\n"
	"1:	ldr x9, [x19, #80]\n"
	"	cbnz x9, 2f\n"
	"	ldr x9, [x19, #112]\n"
	"	subs x9, x9, #1\n"
	"	str x9, [x19, #112]\n"
	"	b.mi 5f\n"
	"	add x0, x19, #96\n"
	"	mov x1, #0\n"
	"	mov x8, #101\n" /* nanosleep */
	"	svc #0\n"
	"	b 1b\n"
	"5:	mov x9, #4\n"
	"	str x9, [x19, #48]\n"
	"	b 4f\n"
	"2:	ldr x0, [x19, #24]\n"
	"	mov x1, #2\n" /* RTLD_NOW */
	"	ldr x9, [x19]\n"
	"	blr x9\n"
	"	mov x20, #2\n"
	"	cbz x0, 3f\n"
	"	ldr x1, [x19, #32]\n"
	"	ldr x9, [x19, #8]\n"
	"	blr x9\n"
	"	mov x20, #3\n"
	"	cbz x0, 3f\n"
	"	blr x0\n"
	"	mov x20, #1\n"
	"3:	ldr x9, [x19, #88]\n"
	"	cbz x9, 6f\n"
	"	ldr x0, [x19, #72]\n"
	"	mov x8, #57\n" /* close */
	"	svc #0\n"
	"6:	str x20, [x19, #48]\n"
	"4:	ldr x9, [x19, #56]\n"
	"	ldr x10, [x19, #64]\n"
	"	str w10, [x9]\n"
	"	ldr x9, [x19, #40]\n"
	"	mov sp, x9\n"
	"	mov x8, #139\n" /* rt_sigreturn */
	"	svc #0\n"
	"remote_machine_code_end:\n"
	".popsection\n");

const uint64_t remote_machine_red_zone = 0;

static int get(pid_t thread, int set, void *data, size_t size)
{
	struct iovec area = {data, size};

	if (ptrace(PTRACE_GETREGSET, thread, set, &area))
		return -errno;
	return area.iov_len == size ? 0 : -EOPNOTSUPP;
}

static int put(pid_t thread, const struct registers *registers)
{
	struct iovec area = {(void *)registers, sizeof(*registers)};

	return ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &area) ? -errno : 0;
}

int remote_machine__where(pid_t thread, uint64_t *instruction, uint64_t *stack)
{
	struct registers registers;
	int error = get(thread, NT_PRSTATUS, &registers, sizeof(registers));

	if (error)
		return error;
	*instruction = registers.pc;
	*stack = registers.sp;
	return 0;
}

/* A signed address has its signature above the 48 bits of an address. */
uint64_t remote_machine__address(uint64_t stored)
{
	return stored & 0xffffffffffffull;
}

#define BR_X17 0xd61f0220 /* ends each entry of a procedure linkage table */

static bool is_table_entry(const struct injection_target *target, uint64_t address)
{
	uint32_t code[5]; /* bti may be the first */

	if (pread(target->memory, code, sizeof(code), address) != sizeof(code))
		return false;
	return code[3] == BR_X17 || code[4] == BR_X17;
}

/* bl to such an entry, or blr in any of its forms. */
bool remote_machine__calls_out(const struct injection_target *target, uint64_t address)
{
	uint32_t before;

	if (address & 3 || pread(target->memory, &before, sizeof(before), address - 4) != 4)
		return false;
	if ((before & 0xfc000000) == 0x94000000)
		return is_table_entry(target,
				      address - 4 + ((int64_t)((int32_t)(before << 6) >> 6) * 4));
	return (before & 0xfefff000) == 0xd63f0000;
}

/* "nr arguments... sp pc" */
void remote_machine__note_sleep(pid_t thread, struct remote_sleep *sleep)
{
	char path[64];
	FILE *call;
	long number = -1;
	unsigned long long first = 0, pc = 0;

	snprintf(path, sizeof(path), "/proc/%d/syscall", thread);
	call = fopen(path, "re");
	if (!call ||
	    fscanf(call, "%ld %llx %*x %*x %*x %*x %*x %*x %llx", &number, &first, &pc) != 3)
		number = -1;
	if (call)
		fclose(call);
	*sleep = (struct remote_sleep){.number = number, .argument = first, .instruction = pc};
}

/* The kernel has gone back already for all but those that end with EINTR. */
int remote_machine__restart(pid_t thread, const struct remote_sleep *sleep, bool goes_on)
{
	struct registers registers;
	int error = get(thread, NT_PRSTATUS, &registers, sizeof(registers));

	if (error || (int64_t)registers.x[0] != -EINTR)
		return error;
	if (sleep->instruction != registers.pc || sleep->number != registers.x[8])
		return -EAGAIN;
	registers.x[0] = sleep->argument;
	registers.pc -= 4;
	return put(thread, &registers);
}

/* The records of a frame's reserved part; the last one is empty. */
static int put_vectors(pid_t thread, uint8_t *at)
{
	struct fpsimd_context context = {.head = {FPSIMD_MAGIC, sizeof(context)}};
	struct vectors vectors;
	int error = get(thread, NT_PRFPREG, &vectors, sizeof(vectors));

	if (error)
		return error;
	context.fpsr = vectors.fpsr;
	context.fpcr = vectors.fpcr;
	memcpy(context.vregs, vectors.v, sizeof(context.vregs));
	memcpy(at, &context, sizeof(context));
	return 0;
}

int remote_machine__push_frame(const struct injection_target *target, pid_t thread, uint64_t *top)
{
	struct registers registers;
	struct frame frame;
	int error = get(thread, NT_PRSTATUS, &registers, sizeof(registers));

	memset(&frame, 0, sizeof(frame));
	error = error ? error : put_vectors(thread, frame.context.uc_mcontext.__reserved);
	if (error)
		return error;
	if (ptrace(PTRACE_GETSIGMASK, thread, sizeof(uint64_t), &frame.context.uc_sigmask))
		return -errno;
	memcpy(frame.context.uc_mcontext.regs, registers.x, sizeof(registers.x));
	frame.context.uc_mcontext.sp = registers.sp;
	frame.context.uc_mcontext.pc = registers.pc;
	frame.context.uc_mcontext.pstate = registers.pstate;
	*top = (*top - sizeof(frame)) & ~15ull;
	return remote_call__write(target, *top, &frame, sizeof(frame));
}

int remote_machine__jump(pid_t thread, uint64_t code, uint64_t block)
{
	struct registers registers;
	int error = get(thread, NT_PRSTATUS, &registers, sizeof(registers));

	if (error)
		return error;
	registers.pc = code;
	registers.sp = block - 64;
	registers.x[19] = block;
	registers.x[29] = registers.x[30] = 0; /* no frame is below */
	registers.pstate &= ~0xc00ull;	       /* no branch was under way (BTYPE) */
	return put(thread, &registers);
}

#endif
