// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/inject/thread_tracer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/inject/injection_target.h"
#include "cuda-trace/inject/remote_call.h"
#include "cuda-trace/inject/remote_machine.h"
#include "cuda-trace/proc/process_stat.h"

#define THREADS_MAX    65536
#define INTERRUPT_MS   50
#define EVENT_OF(stop) ((stop) >> 16)

static struct traced_thread *find(struct thread_tracer *tracer, pid_t id)
{
	for (uint32_t i = 0; i < tracer->count; i++)
		if (tracer->threads[i].id == id)
			return &tracer->threads[i];
	return NULL;
}

static struct traced_thread *add(struct thread_tracer *tracer, pid_t id)
{
	if (tracer->count == THREADS_MAX ||
	    !array_grow__for_one(tracer->threads, tracer->capacity, tracer->count))
		return NULL;
	tracer->threads[tracer->count] = (struct traced_thread){
		.id = id,
		.cpu = injection_target__thread_cpu(tracer->target->pid, id),
	};
	return &tracer->threads[tracer->count++];
}

/* A thread that a seized one has started is seized already. */
static int seize(pid_t id)
{
	siginfo_t info;
	int refusal;

	if (!ptrace(PTRACE_SEIZE, id, 0, PTRACE_O_TRACECLONE))
		return 0;
	refusal = errno;
	if (!waitid(P_PID, id, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
		return 0;
	return -refusal;
}

/* One pass over the threads that are not seized yet, the oldest first: of two tools that begin at
 * once, one gets the main thread, and the other gets none. True if there was any. */
static bool seize_new(struct thread_tracer *tracer, int *error)
{
	char path[64];
	struct dirent *entry;
	bool found = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", tracer->target->pid);
	tasks = opendir(path);
	while (tasks && !*error && (entry = readdir(tasks))) {
		pid_t id = strtol(entry->d_name, NULL, 10);
		int refusal;

		if (id <= 0 || find(tracer, id))
			continue;
		refusal = seize(id);
		if (refusal) {
			char state = process_stat__thread_state(tracer->target->pid, id);

			/* One that ends is refused as one that may not be traced. */
			if (refusal != -ESRCH && !process_stat__is_end(state))
				*error = refusal;
			continue;
		}
		if (!add(tracer, id))
			*error = -ENOMEM;
		found = true;
	}
	if (tasks)
		closedir(tasks);
	return found;
}

int thread_tracer__seize(struct thread_tracer *tracer, const struct injection_target *target)
{
	int error = 0;

	*tracer = (struct thread_tracer){.target = target};
	/* A thread that is not seized yet may start another meanwhile: until there is none. */
	while (seize_new(tracer, &error) && !error)
		;
	if (!error && !tracer->count)
		error = -ESRCH;
	return error;
}

/* The signal that a probe of libcuda sent, not one that somebody else sent. */
static bool is_ours(const struct thread_tracer *tracer, pid_t id, int signal)
{
	siginfo_t info;

	return signal == (int)tracer->target->signal && !ptrace(PTRACE_GETSIGINFO, id, 0, &info) &&
	       info.si_code == SI_KERNEL;
}

static bool is_at_entry(const struct thread_tracer *tracer, pid_t id)
{
	uint64_t instruction, stack;

	return !remote_machine__where(id, &instruction, &stack) &&
	       injection_target__is_entry(tracer->target, instruction);
}

static void handle_stop(struct thread_tracer *tracer, struct traced_thread *thread, int status)
{
	int signal = WSTOPSIG(status);

	if (EVENT_OF(status) == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		/* Somebody stops the process (Ctrl-Z): as without a tracer. */
		ptrace(PTRACE_LISTEN, thread->id, 0, 0);
		return;
	}
	if (EVENT_OF(status)) {
		remote_call__resume(thread->id, &thread->sleep);
		ptrace(PTRACE_CONT, thread->id, 0, 0);
		return;
	}
	if (!is_ours(tracer, thread->id, signal)) {
		ptrace(PTRACE_CONT, thread->id, 0, signal);
		return;
	}
	if (thread->state != THREAD_RUNS || !is_at_entry(tracer, thread->id)) {
		ptrace(PTRACE_CONT, thread->id, 0, 0);
		return;
	}
	thread->state = THREAD_AT_ENTRY;
	tracer->stopped++;
	tracer->latest_stop = monotonic__ns();
	if (!tracer->first_stop)
		tracer->first_stop = tracer->latest_stop;
}

static void drop(struct thread_tracer *tracer, struct traced_thread *thread)
{
	if (thread->state == THREAD_AT_ENTRY)
		tracer->stopped--;
	*thread = tracer->threads[--tracer->count];
}

bool thread_tracer__serve(struct thread_tracer *tracer)
{
	pid_t id;
	int status;

	while ((id = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		struct traced_thread *thread = find(tracer, id);

		if (!thread)
			thread = add(tracer, id);
		if (WIFSTOPPED(status)) {
			if (thread)
				handle_stop(tracer, thread, status);
			else
				ptrace(PTRACE_DETACH, id, 0, 0);
		} else if (thread) {
			drop(tracer, thread);
		}
	}
	return tracer->count && !(id < 0 && errno == ECHILD);
}

int thread_tracer__interrupt(struct thread_tracer *tracer, struct traced_thread *thread)
{
	const struct timespec pause = {.tv_nsec = 100000};
	pid_t id = thread->id;
	int status;

	remote_machine__note_sleep(id, &thread->sleep);
	if (ptrace(PTRACE_INTERRUPT, id, 0, 0))
		return -errno;
	for (int i = 0; i < INTERRUPT_MS * 10; i++) {
		pid_t found = waitpid(id, &status, __WALL | WNOHANG);

		if (found < 0 || (found == id && !WIFSTOPPED(status)))
			return -ESRCH;
		if (found == id && EVENT_OF(status) == PTRACE_EVENT_STOP &&
		    WSTOPSIG(status) == SIGTRAP) {
			thread->state = THREAD_IN_CALL;
			return 0;
		}
		if (found == id)
			handle_stop(tracer, thread, status);
		if (thread->state != THREAD_RUNS)
			return -EAGAIN; /* it has just entered libcuda */
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

void thread_tracer__lend(struct thread_tracer *tracer, struct traced_thread *thread)
{
	if (thread->state == THREAD_AT_ENTRY)
		tracer->stopped--;
	thread->state = THREAD_BORROWED;
	ptrace(PTRACE_CONT, thread->id, 0, 0);
}

void thread_tracer__release(struct thread_tracer *tracer)
{
	for (uint32_t i = 0; i < tracer->count; i++) {
		struct traced_thread *thread = &tracer->threads[i];

		if (thread->state == THREAD_IN_CALL)
			remote_call__resume(thread->id, &thread->sleep);
		if (thread->state == THREAD_AT_ENTRY || thread->state == THREAD_IN_CALL)
			ptrace(PTRACE_DETACH, thread->id, 0, 0);
	}
	tracer->stopped = 0;
}

void thread_tracer__free(struct thread_tracer *tracer)
{
	free(tracer->threads);
	tracer->threads = NULL;
}
