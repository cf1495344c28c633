// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sleeps in one system call with every register, the red zone, errno and the signal mask in a known
 * state, and compares them when the call has returned: still CALL, with CALL read, epoll or futex.
 * Prints "ready", and at the end "same", or what differs. Ends the call when a byte comes on its
 * standard input (read, epoll), or after four seconds (futex).
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

struct state {
	uint64_t general[8]; /* rbx, rbp, r12-r15, and two of the arguments */
	uint8_t vectors[16][16];
	uint64_t red_zone[8];
	uint64_t result;
	uint64_t flags;
};

/* Named in the assembler. */
extern struct state before, after;
extern uint64_t arguments[7];
struct state before, after;
uint64_t arguments[7]; /* number, then six */

/* One block, so that the compiler has no say in what lies where. */
static void call(void)
{
	__asm__ volatile("push %%rbp\n\t"
			 "push %%rbx\n\t"
			 "lea before(%%rip), %%r11\n\t"
			 "movdqu 64(%%r11), %%xmm0\n\tmovdqu 80(%%r11), %%xmm1\n\t"
			 "movdqu 96(%%r11), %%xmm2\n\tmovdqu 112(%%r11), %%xmm3\n\t"
			 "movdqu 128(%%r11), %%xmm4\n\tmovdqu 144(%%r11), %%xmm5\n\t"
			 "movdqu 160(%%r11), %%xmm6\n\tmovdqu 176(%%r11), %%xmm7\n\t"
			 "movdqu 192(%%r11), %%xmm8\n\tmovdqu 208(%%r11), %%xmm9\n\t"
			 "movdqu 224(%%r11), %%xmm10\n\tmovdqu 240(%%r11), %%xmm11\n\t"
			 "movdqu 256(%%r11), %%xmm12\n\tmovdqu 272(%%r11), %%xmm13\n\t"
			 "movdqu 288(%%r11), %%xmm14\n\tmovdqu 304(%%r11), %%xmm15\n\t"
			 "mov 320(%%r11), %%rax\n\tmov %%rax, -8(%%rsp)\n\t"
			 "mov 328(%%r11), %%rax\n\tmov %%rax, -16(%%rsp)\n\t"
			 "mov 376(%%r11), %%rax\n\tmov %%rax, -120(%%rsp)\n\t"
			 "mov 0(%%r11), %%rbx\n\tmov 8(%%r11), %%rbp\n\t"
			 "mov 16(%%r11), %%r12\n\tmov 24(%%r11), %%r13\n\t"
			 "mov 32(%%r11), %%r14\n\tmov 40(%%r11), %%r15\n\t"
			 "lea arguments(%%rip), %%r11\n\t"
			 "mov 0(%%r11), %%rax\n\tmov 8(%%r11), %%rdi\n\tmov 16(%%r11), %%rsi\n\t"
			 "mov 24(%%r11), %%rdx\n\tmov 32(%%r11), %%r10\n\tmov 40(%%r11), %%r8\n\t"
			 "mov 48(%%r11), %%r9\n\t"
			 "syscall\n\t"
			 "lea after(%%rip), %%r11\n\t"
			 "mov %%rax, 384(%%r11)\n\t"
			 "mov -8(%%rsp), %%rax\n\tmov %%rax, 320(%%r11)\n\t"
			 "mov -16(%%rsp), %%rax\n\tmov %%rax, 328(%%r11)\n\t"
			 "mov -120(%%rsp), %%rax\n\tmov %%rax, 376(%%r11)\n\t"
			 "mov %%rbx, 0(%%r11)\n\tmov %%rbp, 8(%%r11)\n\t"
			 "mov %%r12, 16(%%r11)\n\tmov %%r13, 24(%%r11)\n\t"
			 "mov %%r14, 32(%%r11)\n\tmov %%r15, 40(%%r11)\n\t"
			 "mov %%rdi, 48(%%r11)\n\tmov %%rsi, 56(%%r11)\n\t"
			 "movdqu %%xmm0, 64(%%r11)\n\tmovdqu %%xmm1, 80(%%r11)\n\t"
			 "movdqu %%xmm2, 96(%%r11)\n\tmovdqu %%xmm3, 112(%%r11)\n\t"
			 "movdqu %%xmm4, 128(%%r11)\n\tmovdqu %%xmm5, 144(%%r11)\n\t"
			 "movdqu %%xmm6, 160(%%r11)\n\tmovdqu %%xmm7, 176(%%r11)\n\t"
			 "movdqu %%xmm8, 192(%%r11)\n\tmovdqu %%xmm9, 208(%%r11)\n\t"
			 "movdqu %%xmm10, 224(%%r11)\n\tmovdqu %%xmm11, 240(%%r11)\n\t"
			 "movdqu %%xmm12, 256(%%r11)\n\tmovdqu %%xmm13, 272(%%r11)\n\t"
			 "movdqu %%xmm14, 288(%%r11)\n\tmovdqu %%xmm15, 304(%%r11)\n\t"
			 "pop %%rbx\n\t"
			 "pop %%rbp\n\t"
			 :
			 :
			 : "rax", "rdi", "rsi", "rdx", "r8", "r9", "r10", "r11", "r12", "r13",
			   "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
			   "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15", "memory", "cc");
}

static struct epoll_event events[1];
static char byte;
static int word;
static struct timespec four_seconds = {.tv_sec = 4};

static uint64_t prepare(const char *name)
{
	if (!strcmp(name, "read")) {
		memcpy(arguments, (uint64_t[]){SYS_read, 0, (uintptr_t)&byte, 1}, 4 * 8);
	} else if (!strcmp(name, "epoll")) {
		int epoll = epoll_create1(0);
		struct epoll_event event = {.events = EPOLLIN};

		epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
		memcpy(arguments,
		       (uint64_t[]){SYS_epoll_wait, epoll, (uintptr_t)events, 1, (uint64_t)-1},
		       5 * 8);
	} else {
		memcpy(arguments,
		       (uint64_t[]){SYS_futex, (uintptr_t)&word, FUTEX_WAIT, 0,
				    (uintptr_t)&four_seconds},
		       5 * 8);
		return -ETIMEDOUT;
	}
	return 1;
}

static void compare(const char *what, const void *a, const void *b, size_t size)
{
	static int differ;

	if (a && memcmp(a, b, size))
		differ = 1, printf("%s differs\n", what);
	if (!a)
		puts(differ ? "different" : "same");
}

int main(int argc, char **argv)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int) = cuda ? (int (*)(unsigned int))dlsym(cuda, "cuInit") : NULL;
	sigset_t mask, mask_after;
	uint64_t result;

	if (argc < 2 || !init || init(0))
		return 1;
	for (size_t i = 0; i < sizeof(before) / 8; i++)
		((uint64_t *)&before)[i] = 0x9e3779b97f4a7c15ull * (i + 1);
	result = prepare(argv[1]);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = 4711;
	puts("ready");
	fflush(stdout);
	call();
	compare("errno", (int[]){errno}, (int[]){4711}, sizeof(int));
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	compare("signal mask", &mask, &mask_after, 8);
	compare("rbx, rbp or r12 to r15", before.general, after.general, 6 * 8);
	compare("an argument", (uint64_t[]){arguments[1], arguments[2]}, &after.general[6], 16);
	compare("a vector register", before.vectors, after.vectors, sizeof(before.vectors));
	compare("the red zone", before.red_zone, after.red_zone, 16);
	compare("its end", &before.red_zone[7], &after.red_zone[7], 8);
	compare("the result", &result, &after.result, 8);
	compare(NULL, NULL, NULL, 0);
	return 0;
}
