// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the call needs lies on the thread's stack, below its red zone:
 *
 *   signal frame, with all registers (remote_machine.h)
 *   call block (struct call_block)
 *   the stack of the call
 */
#include "cuda-trace/inject/remote_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda-trace/inject/injection_target.h"
#include "cuda-trace/inject/remote_machine.h"

#define COPY_NAME "libcupti-usdt.so"

bool remote_call__can_overwrite(const uint8_t bytes[], size_t size)
{
	size_t code = remote_machine_code_end - remote_machine_code, first = 0;

	if (code <= size && !memcmp(bytes, remote_machine_code, code))
		first = code;
	for (size_t i = first; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

bool remote_call__is_return_into(const struct injection_target *target, uint64_t stored,
				 uint64_t start, uint64_t end)
{
	uint64_t address = remote_machine__address(stored);

	return address >= start && address < end && remote_machine__calls_out(target, address);
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

void remote_call__resume(pid_t thread, const struct remote_sleep *sleep)
{
	if (!has_signal(thread))
		remote_machine__restart(thread, sleep, true);
}

int remote_call__write(const struct injection_target *target, uint64_t address, const void *data,
		       size_t size)
{
	return pwrite(target->memory, data, size, address) == (ssize_t)size ? 0 : -EFAULT;
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
	return remote_call__write(target, call->block, &block, sizeof(block));
}

int remote_call__begin(struct remote_call *call, const struct injection_target *target,
		       pid_t thread, const char *path, int copy, const struct remote_sleep *sleep)
{
	size_t code_size = remote_machine_code_end - remote_machine_code;
	uint64_t instruction, frame = 0;
	int error;

	*call = (struct remote_call){.thread = thread, .copy = copy};
	if (code_size > TARGET_CODE_SIZE)
		return -E2BIG;
	error = sleep && has_signal(thread) ? -EAGAIN : 0;
	error = !error && sleep ? remote_machine__restart(thread, sleep, false) : error;
	error = error ? error : remote_machine__where(thread, &instruction, &frame);
	frame -= remote_machine_red_zone;
	error = error ? error : remote_machine__push_frame(target, thread, &frame);
	error = error ? error : write_block(call, target, path, frame);
	error = error ? error
		      : remote_call__write(target, target->code, remote_machine_code, code_size);
	return error ? error : remote_machine__jump(thread, target->code, call->block);
}

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
