/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a call in another process needs of the machine: remote_x86_64.c, remote_arm64.c. The thread
 * is stopped and traced. One thread, the tracer's.
 */
#ifndef CUDA_TRACE_INJECT_REMOTE_MACHINE_H
#define CUDA_TRACE_INJECT_REMOTE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cuda-trace/inject/remote_call.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "a call needs a file like remote_arm64.c"
#endif

/* What the code in the process reads and writes. */
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

_Static_assert(offsetof(struct call_block, state) == 48, "the code has these numbers");
_Static_assert(offsetof(struct call_block, wants_copy) == 88, "the code has these numbers");
_Static_assert(offsetof(struct call_block, turns) == 112, "the code has these numbers");
_Static_assert(offsetof(struct call_block, name_text) == 400, "the code has these numbers");

/*
 * What the thread executes; never called in this process. It keeps the thread's errno, makes a
 * memory file for the copy of the agent where its own file system has none, and waits for it to be
 * filled, for a second at most. Ends with rt_sigreturn in any case.
 */
extern const uint8_t remote_machine_code[], remote_machine_code_end[];

/* Where the thread is. 0 or -errno. */
int remote_machine__where(pid_t thread, uint64_t *instruction, uint64_t *stack);
/* A return address as it is stored on a stack, without its signature. */
uint64_t remote_machine__address(uint64_t stored);
/* Whether the address follows a call that may lead out of its file: through a pointer, or by the
 * procedure linkage table. */
bool remote_machine__calls_out(const struct injection_target *target, uint64_t address);
/* What an interruption overwrites; the thread sleeps in a system call and is not stopped yet. */
void remote_machine__note_sleep(pid_t thread, struct remote_sleep *sleep);
/* Lets the thread make its interrupted system call again. If it goes on from here, the kernel does
 * so for all but those that end with EINTR. 0, also if none was interrupted, or -errno: -EAGAIN if
 * it cannot be made again. */
int remote_machine__restart(pid_t thread, const struct remote_sleep *sleep, bool goes_on);
/* Writes a signal frame with all registers below *top, and moves it there. 0 or -errno. */
int remote_machine__push_frame(const struct injection_target *target, pid_t thread, uint64_t *top);
/* How far below its stack pointer a thread may use its stack. */
extern const uint64_t remote_machine_red_zone;
/* Lets the thread go on in the code. 0 or -errno. */
int remote_machine__jump(pid_t thread, uint64_t code, uint64_t block);

#endif
