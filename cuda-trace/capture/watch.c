// SPDX-License-Identifier: BSD-2-Clause
/*
 * The life of a command that watches. One thread; signals only set flags.
 */
#include "cuda-trace/capture/watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "cuda-trace/base/exit_status.h"
#include "cuda-trace/capture/descendants.h"
#include "cuda-trace/cli/event_groups.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/proc/nvtx_injection.h"
#include "cuda-trace/proc/runner.h"
#include "cuda-trace/attach/agent_files.h"

#define TICK_MS 100

static volatile sig_atomic_t
	interrupts; /* SIGINT, SIGQUIT: from the terminal, PROGRAM gets them too */
static volatile sig_atomic_t termination; /* SIGTERM or SIGHUP: passed on to PROGRAM */
static volatile sig_atomic_t terminated;  /* there was one */

struct run {
	const struct watch *watch;
	struct session *session;
	struct runner runner;
	struct collection *collection; /* NULL = all the time */
	struct time_window *window;    /* NULL = from now on */
	bool begun;
	bool program_runs;
	int pidfd; /* of -p's process, or -1 */
	FILE *output;
	int output_error; /* errno of the write that failed */
	uint64_t until;	  /* ms; 0 = no limit */
};

static void on_signal(int number)
{
	if (number == SIGINT || number == SIGQUIT)
		interrupts++;
	else if (number != SIGCHLD)
		termination = terminated = number;
}

/* once: a second one ends the tool at once. */
static void catch_signals(bool once)
{
	static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
	struct sigaction action = {.sa_handler = on_signal}, before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		action.sa_flags = once && numbers[i] != SIGCHLD ? SA_RESETHAND : 0;
		sigaction(numbers[i], &action, &before);
		/* nohup stays in force. */
		if (numbers[i] == SIGHUP && before.sa_handler == SIG_IGN)
			sigaction(numbers[i], &before, NULL);
	}
	/* A reader that goes away shows as a failed write. */
	signal(SIGPIPE, SIG_IGN);
}

FILE *watch__open_output(const char *command, const struct options *options)
{
	FILE *output;

	if (options->output && strcmp(options->output, "-")) {
		output = output_file__open_stream(command, options->output, NULL);
		if (!output)
			return NULL;
	} else {
		/* Not stdout and stderr themselves: rows want a large buffer, messages none. */
		output = fdopen(
			dup(options->program && !options->output ? STDERR_FILENO : STDOUT_FILENO),
			"w");
	}
	if (output)
		setvbuf(output, NULL, _IOFBF, 1 << 16);
	else
		fprintf(stderr, "cuda-trace %s: cannot write the output: %s\n", command,
			strerror(errno));
	return output;
}

static enum session_source source_of(const struct watch *watch)
{
	const char *source = watch->options->source;

	if (!watch->sources || (source && !strcmp(source, "cupti")))
		return SESSION_AGENTS;
	return source && !strcmp(source, "driver") ? SESSION_DRIVER : SESSION_AUTO;
}

/* Whoever names one process or program means that; an administrator decides for all others. */
enum session_attach watch__attaches(const struct options *options)
{
	if (options->no_attach)
		return SESSION_ATTACH_NONE;
	return options->attach || options->pid || options->program ? SESSION_ATTACH_ALL
								   : SESSION_ATTACH_PREPARED;
}

static uint32_t groups_of(const struct watch *watch)
{
	return watch->groups | watch->windows.groups;
}

static const struct sink *sink_behind_window(const struct run *run)
{
	return run->collection ? collection__sink(run->collection) : run->watch->sink;
}

static int open_session(struct run *run)
{
	const struct sink *sink =
		run->window ? time_window__sink(run->window) : sink_behind_window(run);
	const struct options *options = run->watch->options;
	struct session_options wanted = {
		.groups = sample_options__groups(&run->watch->sample,
						 groups_of(run->watch) & ~GROUPS_COLLECTIVES),
		.sample_on_ms = run->watch->sample.on_ms,
		.sample_every_ms = run->watch->sample.every_ms,
		.pid = run->program_runs ? (uint32_t)run->runner.pid : options->pid,
		.comm = options->comm,
		.uid = options->uid,
		.cgroup = options->cgroup,
		.source = source_of(run->watch),
		.ring_mib = options->ring_mib,
		.verbose = options->verbose,
		.stacks = run->watch->stacks,
		.collectives = run->watch->groups & GROUPS_COLLECTIVES,
		.stacks_timed = run->watch->stacks_timed,
		.stacks_copied = run->watch->stacks_copied,
		.launches_at_entry = run->watch->launches_at_entry,
		.by_link = true,
		.yields = true,
		.watches = true,
		.attach = watch__attaches(options),
		.held = run->program_runs,
		.ranges_at_once = run->watch->ranges_at_once ||
				  run->watch->windows.by == WINDOWS_RANGE ||
				  run->watch->windows.by == WINDOWS_STEPS,
	};

	run->session = session__open(&wanted, sink);
	return run->session ? session__attach(run->session) : -EINVAL;
}

/*
 * The end of -p's process, of which nobody else would tell. Its descriptor is opened before
 * anything is attached: that takes a while on a busy machine, and the number of a process that ends
 * meanwhile is nobody's then, or soon another one's.
 */
static bool process_has_ended(const struct run *run)
{
	struct pollfd process = {.fd = run->pidfd, .events = POLLIN};
	uint32_t pid = run->watch->options->pid;

	if (run->pidfd >= 0)
		return poll(&process, 1, 0) == 1;
	/* A sandbox may know no such descriptors. */
	return pid && kill(pid, 0) && errno == ESRCH;
}

/* --wait: PROGRAM has ended, and what it started runs on. Nobody passes signals on to that. */
static bool waits_for_others(const struct run *run)
{
	return run->watch->options->wait && !interrupts && !terminated &&
	       descendants__list(run->session, run->runner.pid, NULL, 0);
}

/* What ends it from outside; PROGRAM's own end is the usual way. */
static bool is_over(struct run *run)
{
	if (run->until && monotonic__ms() >= run->until)
		return true;
	if (run->output_error)
		return true;
	if (run->program_runs) {
		if (termination) {
			runner__signal(&run->runner, termination);
			termination = 0;
		}
		return runner__ended(&run->runner, false) && !waits_for_others(run);
	}
	if (interrupts || termination)
		return true;
	return process_has_ended(run);
}

/* A write failed in the middle of a line's printing, and nobody kept why. */
static int reason_of(FILE *output)
{
	struct pollfd pipe = {.fd = fileno(output)};

	return poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR ? EPIPE : EIO;
}

static void flush_output(struct run *run)
{
	errno = 0;
	if ((fflush(run->output) || ferror(run->output)) && !run->output_error)
		run->output_error = errno ? errno : reason_of(run->output);
}

/* The end is that of the duration from the moment on, to which the window cuts. */
static void begin_if_due(struct run *run)
{
	const struct watch *watch = run->watch;
	const struct time_window_begin *begin;

	if (run->begun || !run->window || !time_window__has_begun(run->window))
		return;
	begin = time_window__begin(run->window);
	run->begun = true;
	if (watch->options->duration)
		run->until = (begin->monotonic + watch->options->duration + 999999) / 1000000;
	if (watch->begun)
		watch->begun(watch->context, begin);
}

static void poll_until_over(struct run *run)
{
	const struct watch *watch = run->watch;
	uint64_t next_tick = 0;

	while (!is_over(run)) {
		session__poll(run->session, TICK_MS);
		begin_if_due(run);
		flush_output(run);
		if (!watch->tick || monotonic__ms() < next_tick)
			continue;
		if (watch->tick(watch->context, run->session))
			return;
		next_tick = monotonic__ms() + TICK_MS;
	}
}

/* Tracing is over, but the program is not: it keeps its terminal and gets its signals. */
static void wait_for_program(struct run *run)
{
	while (!runner__ended(&run->runner, false)) {
		struct timespec pause = {.tv_nsec = 20000000};

		if (termination) {
			runner__signal(&run->runner, termination);
			termination = 0;
		}
		nanosleep(&pause, NULL);
	}
}

static void report_windows(struct run *run)
{
	const struct watch *watch = run->watch;
	struct collection_counts counts;

	if (!run->collection)
		return;
	collection__count(run->collection, &counts);
	if (watch->collected)
		watch->collected(watch->context, &counts);
	collection__say(watch->command, run->collection);
}

static int run_prepared(struct run *run)
{
	const struct watch *watch = run->watch;
	const struct options *options = watch->options;
	int status = EXIT_OK;
	char shown[256];

	if (watch->start)
		status = watch->start(watch->context, run->output);
	if (status) {
		/* Still held: to wait for it would be for ever. */
		if (run->program_runs)
			runner__cancel(&run->runner);
		run->program_runs = false;
		return status;
	}
	if (watch->attached)
		watch->attached(watch->context, run->session);
	if (options->pid && !process_has_ended(run))
		descendants__remark(run->session, options->pid,
				    watch__attaches(options) == SESSION_ATTACH_ALL);
	catch_signals(false);
	/* Who wanted that to end does not want it to begin. */
	if (run->program_runs && (interrupts || terminated)) {
		fprintf(stderr, "cuda-trace %s: interrupted before %s was started\n",
			watch->command, text__show(shown, sizeof(shown), options->program[0], 200));
		runner__cancel(&run->runner);
		run->program_runs = false;
		return EXIT_TROUBLE;
	}
	if (run->program_runs) {
		status = runner__release(&run->runner, options->program[0]);
		if (status) {
			run->program_runs = false;
			return status;
		}
	}
	if (run->window)
		time_window__attached(run->window);
	else if (options->duration)
		run->until = monotonic__ms() + (options->duration + 999999) / 1000000;
	poll_until_over(run);
	collection__close(run->collection, monotonic__ns());
	session__finish(run->session);
	begin_if_due(run);
	report_windows(run);
	watch->finish(watch->context, run->session);
	flush_output(run);
	if (run->program_runs && run->runner.ended)
		descendants__say(watch->command, run->session, run->runner.pid);
	/* A reader that has enough (head) is no trouble. */
	if (run->output_error && run->output_error != EPIPE) {
		fprintf(stderr, "cuda-trace %s: cannot write %s: %s\n", watch->command,
			options->output ? options->output : "the output",
			strerror(run->output_error));
		status = EXIT_TROUBLE;
	}
	return status;
}

int watch__pass_on(const struct watch_end *end)
{
	const struct runner runner = {.ended = true, .status = end->status};

	return runner__pass_on(&runner);
}

int watch__run(const struct watch *watch)
{
	struct run run = {.watch = watch, .pidfd = -1};
	const struct options *options = watch->options;
	char agent[PATH_MAX];
	int status = EXIT_TROUBLE;

	run.output =
		watch->output ? watch->output : watch__open_output(watch->command, watch->options);
	if (!run.output)
		return EXIT_TROUBLE;
	if (watch->windows.by != WINDOWS_ALWAYS) {
		run.collection = collection__new(&watch->windows, watch->sink);
		if (!run.collection)
			return EXIT_TROUBLE;
	}
	if (watch->at) {
		run.window =
			time_window__new(watch->at, options->duration, sink_behind_window(&run));
		if (!run.window)
			return EXIT_TROUBLE;
	}
	if (options->program) {
		bool agents = source_of(watch) != SESSION_DRIVER;

		if (agents && agent_files__agent_path(agent, false))
			return EXIT_TROUBLE;
		if (agents && groups_of(watch) & 1u << CUDA_GROUP_NVTX)
			nvtx_injection__offer(agent);
		if (runner__start(&run.runner, options->program, agents ? agent : NULL))
			return EXIT_TROUBLE;
		run.program_runs = true;
	}
	if (options->pid)
		run.pidfd = syscall(SYS_pidfd_open, options->pid, 0);
	/* Behind PROGRAM's fork. Whoever ends the tool while it attaches gets its summary, too; and
	 * a shell's background job, which would ignore SIGINT, ends. */
	catch_signals(true);
	if (open_session(&run)) {
		if (run.program_runs)
			runner__cancel(&run.runner);
	} else {
		status = run_prepared(&run);
	}
	/* Frees the agents before it waits: a program that runs on is not watched any more. */
	session__close(run.session);
	collection__free(run.collection);
	time_window__free(run.window);
	if (run.program_runs && !run.runner.ended && run.session)
		wait_for_program(&run);
	if (run.pidfd >= 0)
		close(run.pidfd);
	if (!watch->output)
		fclose(run.output);
	if (watch->end)
		*watch->end = (struct watch_end){run.program_runs && run.runner.ended,
						 run.runner.status, interrupts || terminated};
	else if (run.program_runs && run.runner.ended && status == EXIT_OK)
		return runner__pass_on(&run.runner);
	return status;
}
