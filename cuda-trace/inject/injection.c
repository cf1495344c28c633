// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/inject/injection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda-trace/base/clock.h"
#include "cuda-trace/attach/privileges.h"
#include "cuda-trace/inject/entry_stop.h"
#include "cuda-trace/inject/remote_call.h"
#include "cuda-trace/inject/remote_machine.h"
#include "cuda-trace/inject/seccomp_filter.h"
#include "cuda-trace/inject/thread_tracer.h"
#include "cuda-trace/foreign/foreign_file.h"
#include "cuda-trace/proc/process_maps.h"
#include "cuda-trace/proc/process_stat.h"

#define MS	   1000000ull
#define QUIET_NS   (15 * MS)  /* no thread has stopped for so long: none is inside the driver */
#define GATHER_NS  (80 * MS)  /* nobody waits for others longer than this */
#define SPIN_NS	   (5 * MS)   /* of a CPU: a thread that had so much is not at a launch */
#define IDLE_NS	   (150 * MS) /* no thread came: one that sleeps is used */
#define CALL_NS	   (500 * MS) /* the others go on then, whatever the call does */
#define STACK_LOOK 16384      /* bytes of a stack that are searched for the loader */

/* What the helper works with. */
struct work {
	struct injection_target target;
	struct thread_tracer tracer;
	struct entry_stop *stop;
	struct remote_call call;
	struct injection_result result;
	int results; /* pipe to the tool */
};

/* Nobody hears it any more if the tool has ended: the work is done all the same. */
static void report(const struct work *work, const struct injection_result *result)
{
	ssize_t written = write(work->results, result, sizeof(*result));

	(void)written;
}

static int fail(struct work *work, int error, const char *reason)
{
	work->result.error = error;
	if (!*work->result.reason)
		snprintf(work->result.reason, sizeof(work->result.reason), "%s", reason);
	return error;
}

static void pause_briefly(void)
{
	const struct timespec pause = {.tv_nsec = 100000};

	nanosleep(&pause, NULL);
}

static bool is_loader_code(const struct work *work, uint64_t address)
{
	return address >= work->target.loader.start && address < work->target.loader.end;
}

/*
 * Does any live frame of the stack lead into the dynamic loader, which holds its lock then? Only
 * calls that may leave it count. Others are its own, and words of them remain on stacks: of how it
 * examined the CPU's caches at the start, for example, where main()'s variables lie later.
 */
static bool is_in_loader(const struct work *work, uint64_t stack)
{
	static uint64_t words[STACK_LOOK / sizeof(uint64_t)];
	ssize_t size = pread(work->target.memory, words, sizeof(words), stack);

	for (ssize_t i = 0; i < size / (ssize_t)sizeof(*words); i++)
		if (remote_call__is_return_into(&work->target, words[i], work->target.loader.start,
						work->target.loader.end))
			return true;
	return false;
}

/* The stack grows down: is there enough of it below, for what the call needs? */
static bool has_stack(const struct work *work, uint64_t stack)
{
	uint8_t byte;

	return pread(work->target.memory, &byte, 1, stack - REMOTE_CALL_STACK) == 1;
}

/* The main thread's stack is mapped as it grows, so its first bytes may not be there yet. */
static bool can_make_call(const struct work *work, const struct traced_thread *thread)
{
	uint64_t instruction, stack;

	if (remote_machine__where(thread->id, &instruction, &stack) || is_in_loader(work, stack))
		return false;
	return thread->id == (pid_t)work->target.pid || has_stack(work, stack);
}

/*
 * A thread that wants to run may be inside the driver with a lock held, and not get a CPU for a
 * while: it is waited for. One that spins there until the GPU is done looks the same, but uses its
 * CPU, and is harmless.
 */
static bool is_settled(const struct work *work)
{
	for (uint32_t i = 0; i < work->tracer.count; i++) {
		const struct traced_thread *thread = &work->tracer.threads[i];
		uint32_t pid = work->target.pid;

		if (thread->state == THREAD_RUNS &&
		    process_stat__thread_state(pid, thread->id) == 'R' &&
		    injection_target__thread_cpu(pid, thread->id) - thread->cpu < SPIN_NS)
			return false;
	}
	return true;
}

/* Until no further thread has stopped for a while. 0, -ESRCH: the process has ended; -EAGAIN: some
 * thread may be inside the driver still. */
static int gather(struct work *work)
{
	const struct thread_tracer *tracer = &work->tracer;
	uint64_t begin = monotonic__ns(), now = begin;

	while (thread_tracer__serve(&work->tracer)) {
		now = monotonic__ns();
		if (!tracer->first_stop ? now - begin > IDLE_NS
					: now - tracer->latest_stop > QUIET_NS && is_settled(work))
			return 0;
		if (tracer->first_stop && now - tracer->first_stop > GATHER_NS)
			return -EAGAIN;
		pause_briefly();
	}
	return -ESRCH;
}

/* A thread at an entry; NULL if there is none that may make the call. */
static struct traced_thread *choose_stopped(struct work *work)
{
	struct traced_thread *chosen = NULL;

	for (uint32_t i = 0; i < work->tracer.count; i++) {
		struct traced_thread *thread = &work->tracer.threads[i];
		uint64_t instruction, stack;

		if (thread->state != THREAD_AT_ENTRY ||
		    remote_machine__where(thread->id, &instruction, &stack))
			continue;
		/* It holds the loader's lock, which the call needs: not now. */
		if (is_in_loader(work, stack))
			return NULL;
		if (!chosen && can_make_call(work, thread))
			chosen = thread;
	}
	return chosen;
}

/* System calls in which a thread waits for its turn, with none of the C library's locks held. */
static bool is_wait(long number)
{
	static const long waits[] = {
		SYS_read,
		SYS_readv,
		SYS_recvfrom,
		SYS_recvmsg,
		SYS_accept,
		SYS_accept4,
		SYS_futex,
		SYS_nanosleep,
		SYS_clock_nanosleep,
		SYS_ppoll,
		SYS_openat,
		SYS_pselect6,
		SYS_wait4,
		SYS_waitid,
		SYS_epoll_pwait,
		SYS_rt_sigtimedwait,
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
		SYS_poll,
		SYS_select,
		SYS_pause,
#endif
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (waits[i] == number)
			return true;
	return false;
}

/* /proc/PID/task/TID/syscall: where a sleeping thread is, without stopping it. */
static bool sleeps(const struct work *work, const struct traced_thread *thread)
{
	unsigned long long stack = 0, instruction = 0;
	char path[64], line[256] = "";
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%d/syscall", work->target.pid, thread->id);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file) ||
	    sscanf(line, "%ld %*x %*x %*x %*x %*x %*x %llx %llx", &number, &stack, &instruction) !=
		    3)
		number = -1;
	fclose(file);
	return is_wait(number) && !is_loader_code(work, instruction) && !is_in_loader(work, stack);
}

/* The first thread that sleeps in a system call and can be stopped there; NULL if there is none. */
static struct traced_thread *choose_sleeping(struct work *work)
{
	for (uint32_t i = 0; i < work->tracer.count; i++) {
		struct traced_thread *thread = &work->tracer.threads[i];

		if (thread->state != THREAD_RUNS || !sleeps(work, thread) ||
		    thread_tracer__interrupt(&work->tracer, thread))
			continue;
		if (can_make_call(work, thread))
			return thread;
		return NULL; /* release resumes it; the next attempt may find another */
	}
	return NULL;
}

/* The path under which the process can open the agent, or a descriptor to copy it from. */
static int find_agent(struct work *work, const char *agent)
{
	struct foreign_file inside;
	struct stat here;
	bool is_same;

	work->result.present = *work->target.agent != 0;
	if (work->result.present)
		return -1;
	if (!stat(agent, &here) && !foreign_file__open(&inside, work->target.pid, agent, false)) {
		is_same = here.st_dev == inside.device && here.st_ino == inside.inode;
		foreign_file__close(&inside);
		if (is_same)
			return -1;
	}
	work->result.copied = true;
	return open(agent, O_RDONLY | O_CLOEXEC);
}

static void wait_for_call(struct work *work)
{
	uint64_t begin = monotonic__ns();
	enum remote_call_state state = REMOTE_CALL_RUNS;

	while (state == REMOTE_CALL_RUNS && thread_tracer__serve(&work->tracer) &&
	       monotonic__ns() - begin < CALL_NS) {
		pause_briefly();
		state = remote_call__state(&work->call, &work->target);
	}
	work->result.call_us = (monotonic__ns() - begin) / 1000;
	if (state == REMOTE_CALL_NO_LIBRARY)
		fail(work, -ELIBACC, "its loader cannot load the injection library");
	else if (state == REMOTE_CALL_NO_ENTRY)
		fail(work, -ELIBBAD, "the file is not an injection library");
	else if (state == REMOTE_CALL_NO_COPY)
		fail(work, -EIO, "no copy of the injection library could be made in its memory");
	else if (state != REMOTE_CALL_DONE)
		fail(work, -ETIMEDOUT, "it did not finish loading the injection library");
}

/* Its filters may kill it for a system call, or make the C library abort. */
static int check_filters(struct work *work, pid_t thread)
{
	const char *call = NULL;
	int error = seccomp_filter__check(thread, &call);
	char reason[TARGET_REASON_SIZE];

	if (!error)
		return 0;
	if (error == -EACCES && call)
		snprintf(reason, sizeof(reason), "its seccomp filter forbids %s()", call);
	else
		snprintf(reason, sizeof(reason), "its seccomp filters cannot be read (%s)",
			 prctl(PR_GET_SECCOMP) > 0 ? "this tool is under one itself"
						   : "CAP_SYS_ADMIN can");
	return fail(work, -EACCES, reason);
}

static void call_agent(struct work *work, const char *agent)
{
	int copy = find_agent(work, agent), error;
	struct traced_thread *thread;
	bool sleeps_in_call = false;

	thread = choose_stopped(work);
	/* CUDA may not work in a forked child: only one that uses it is touched. */
	if (!thread && !work->tracer.stopped && !work->target.forked) {
		thread = choose_sleeping(work);
		sleeps_in_call = thread != NULL;
		work->result.idle = sleeps_in_call;
	}
	if (!thread) {
		fail(work, -EAGAIN,
		     work->tracer.stopped
			     ? "its threads are inside the dynamic loader"
			     : "no thread enters libcuda, and none sleeps where it can "
			       "be used");
		return;
	}
	if (!work->tracer.first_stop)
		work->tracer.first_stop = monotonic__ns();
	if (work->target.filtered && check_filters(work, thread->id))
		return;
	error = remote_call__begin(&work->call, &work->target, thread->id,
				   work->result.present ? work->target.agent : agent, copy,
				   sleeps_in_call ? &thread->sleep : NULL);
	if (error) {
		fail(work, error, "its registers or memory cannot be changed");
		return;
	}
	thread_tracer__lend(&work->tracer, thread);
	wait_for_call(work);
}

/* The other one of two tools that attach at the same time may have ended by now. */
static int refused(struct work *work)
{
	int error = injection_target__refused(&work->target);

	if (error == -EPERM && !thread_tracer__seize(&work->tracer, &work->target))
		return fail(work, -EALREADY, "another process traced it a moment ago");
	return fail(work, error, work->target.reason);
}

static bool has_agent(uint32_t pid)
{
	struct inspection seen;

	return !process_maps__process(pid, &seen) && seen.agent;
}

static int seize(struct work *work, bool had_agent)
{
	int error = thread_tracer__seize(&work->tracer, &work->target);

	if (error == -EPERM)
		return refused(work);
	if (error)
		return fail(work, error, "its threads cannot be traced");
	/* Nobody else can load the agent from now on, but somebody may have since the maps were
	 * read: a second copy would count everything again. */
	if (!had_agent && has_agent(work->target.pid))
		return fail(work, -EALREADY, "another tool has loaded the injection library");
	return 0;
}

static void inject(struct work *work, uint32_t pid, const char *agent)
{
	uint64_t begin = monotonic__ns();
	bool had_agent = has_agent(pid);
	const char *reason = "";
	int error = injection_target__open(&work->target, pid);

	if (error) {
		fail(work, error, work->target.reason);
		return;
	}
	error = entry_stop__new(&work->stop, &work->target, &reason);
	if (error) {
		fail(work, error, reason);
		return;
	}
	work->result.link_us = (monotonic__ns() - begin) / 1000;
	if (seize(work, had_agent))
		return;
	error = entry_stop__arm(work->stop);
	if (!error)
		report(work, &(struct injection_result){.armed = true});
	error = error ? error : gather(work);
	if (error) {
		fail(work, error,
		     error == -EAGAIN ? "its threads stay inside the driver"
				      : "the process has ended");
		entry_stop__disarm(work->stop);
		thread_tracer__release(&work->tracer);
		return;
	}
	work->result.threads = work->tracer.count;
	work->result.stopped = work->tracer.stopped;
	call_agent(work, agent);
	entry_stop__disarm(work->stop);
	thread_tracer__release(&work->tracer);
	if (work->tracer.first_stop)
		work->result.stop_us = (monotonic__ns() - work->tracer.first_stop) / 1000;
}

/* What the tool has open (links to probes, its output) is the tool's to close. */
static int keep_only(int descriptor)
{
	int kept = STDERR_FILENO + 1;

	if (dup2(descriptor, kept) != kept)
		return descriptor;
	close_range(kept + 1, ~0u, 0);
	return kept;
}

static void *remove_probes(void *stop)
{
	entry_stop__free(stop);
	_exit(0);
}

/* Threads that the kernel still traces stop at the probes until the tracer has ended, also inside
 * the agent's callback. Removing the probes takes the kernel a second on a busy machine, and it
 * does that first as a process ends: so another thread does it, while the tracer ends at once. */
static _Noreturn void end_helper(struct entry_stop *stop)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, remove_probes, stop))
		_exit(0);
	for (;;)
		syscall(SYS_exit, 0);
}

/* The helper outlives the tool's terminal and its signals, but not its work. */
static void be_helper(int results, uint32_t pid, const char *agent)
{
	static struct work work;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	/* Seccomp filters are read with it. */
	privileges__raise_admin();
	/* Before anything is stopped: ends an attach that hangs somewhere. */
	alarm(30);
	sigdelset(&all, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &all, NULL);
	work.results = keep_only(results);
	inject(&work, pid, agent);
	report(&work, &work.result);
	/* Detaches the threads that run, without interrupting them. */
	end_helper(work.stop);
}

int injection__start(struct injection *injection, uint32_t pid, const char *agent)
{
	int ends[2];

	*injection = (struct injection){.pid = pid, .results = -1};
	injection->start = process_stat__start(pid);
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	injection->helper = fork();
	if (!injection->helper) {
		close(ends[0]);
		be_helper(ends[1], pid, agent);
	}
	close(ends[1]);
	if (injection->helper < 0) {
		close(ends[0]);
		return -errno;
	}
	injection->results = ends[0];
	return 0;
}

/* False: it is not over. */
static bool take(struct injection *injection, struct injection_result *result)
{
	bool whole = read(injection->results, result, sizeof(*result)) == sizeof(*result);

	if (whole && result->armed) {
		injection->armed = true;
		return false;
	}
	if (!whole) {
		*result = (struct injection_result){.error = -ECHILD};
		snprintf(result->reason, sizeof(result->reason), "the helper process died");
	}
	result->reason[sizeof(result->reason) - 1] = 0;
	close(injection->results);
	injection->results = -1;
	return true;
}

bool injection__reap(struct injection *injection)
{
	if (injection->helper > 0 && waitpid(injection->helper, NULL, WNOHANG))
		injection->helper = 0;
	return injection->helper <= 0;
}

bool injection__poll(struct injection *injection, struct injection_result *result)
{
	struct pollfd results = {.fd = injection->results, .events = POLLIN};

	while (injection->results >= 0 && poll(&results, 1, 0) == 1)
		if (take(injection, result))
			return true;
	return false;
}
