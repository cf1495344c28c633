// SPDX-License-Identifier: BSD-2-Clause
// A program that lives under rules of its own, which a library inside of it must not break: it has
// its own malloc, and by MODE a system call filter that kills, another root, children by vfork, or
// a signal every millisecond.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/workloads/program.h"

static const char help[] =
	"usage: bonds MODE [MILLISECONDS]\n"
	"Launches kernels before and after it put itself in bonds, for MILLISECONDS (300):\n"
	"  seccomp  opening a file, a socket, a program or a tracer is death from then on\n"
	"  nosocket a pair of sockets cannot be made from then on (sockdie: is death)\n"
	"  chroot   in an empty folder (root)\n"
	"  vfork    with children that begin another program\n"
	"  signals  with a signal every millisecond, which no tracer's thread may get\n"
	"  malloc   with nothing else than its own malloc, which all modes have\n";

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Memory is never freed. Each block has its size in front. */
static _Alignas(16) unsigned char arena[256 << 20];
static _Atomic size_t used;

void *malloc(size_t size)
{
	size_t capacity = (size + 31) & ~(size_t)15, at;

	if (size > sizeof(arena) ||
	    (at = atomic_fetch_add(&used, capacity)) + capacity > sizeof(arena))
		return errno = ENOMEM, NULL;
	memcpy(arena + at, &size, sizeof(size));
	return arena + at + 16;
}

void free(void *block)
{
}

void *calloc(size_t count, size_t size)
{
	return size && count > sizeof(arena) / size ? NULL : malloc(count * size);
}

void *realloc(void *block, size_t size)
{
	void *larger = malloc(size);
	size_t before;

	if (!block || !larger)
		return larger;
	memcpy(&before, (unsigned char *)block - 16, sizeof(before));
	return memcpy(larger, block, before < size ? before : size);
}
#endif

static struct program program;
static CUfunction empty;
static CUstream stream;
static sigset_t alarms;
static volatile sig_atomic_t misdirected, signals;

static void launch_some(void)
{
	const struct shape shape = {{1, 1, 1}, {32, 1, 1}, 0};

	for (int i = 0; i < 100; i++)
		program__check(counted__launch(empty, &shape, stream, NULL), "cuLaunchKernel");
	program__check(counted__stream_synchronize(stream), "cuStreamSynchronize");
}

static void must(int failed, const char *what)
{
	if (failed)
		program__fail("%s: %s", what, strerror(errno));
}

#define DIES_OF(call)                                           \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void set_filter(const struct sock_filter *filter, size_t count)
{
	struct sock_fprog rules = {count, (struct sock_filter *)filter};

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules), "seccomp");
}

static void filter_calls(void)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DIES_OF(openat),
		DIES_OF(socket),
		DIES_OF(execve),
		DIES_OF(ptrace),
		DIES_OF(bpf),
		DIES_OF(perf_event_open),
		DIES_OF(process_vm_readv),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	set_filter(filter, sizeof(filter) / sizeof(filter[0]));
}

static void filter_sockets(uint32_t answer)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socketpair, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	set_filter(filter, sizeof(filter) / sizeof(filter[0]));
}

static void change_root(void)
{
	char folder[] = "/tmp/bonds.XXXXXX";

	must(!mkdtemp(folder), "mkdtemp");
	must(chdir(folder), "chdir");
	must(rmdir(folder), "rmdir");
	must(chroot("."), "chroot");
}

static void begin_another(void)
{
	pid_t child = vfork();
	int status = 0;

	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	must(child < 0 || waitpid(child, &status, 0) != child, "vfork");
	if (status)
		program__fail("the child ended with %d", status);
}

static void on_signal(int number)
{
	int error = errno;
	char name[16] = "";

	/* The driver's own threads may take them; a tracer's must not. */
	if (!prctl(PR_GET_NAME, name) && !strcmp(name, "cupti-usdt"))
		misdirected++;
	errno = error;
}

/* This thread takes them when it likes: until then any other that does not block them gets them. */
static void ask_for_signals(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	const struct sigaction action = {.sa_handler = on_signal};

	must(sigaction(SIGALRM, &action, NULL), "sigaction");
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	must(sigprocmask(SIG_BLOCK, &alarms, NULL), "sigprocmask");
	must(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
}

static void receive_signals(void)
{
	const struct timespec now = {};

	while (sigtimedwait(&alarms, NULL, &now) == SIGALRM)
		signals++;
}

static void stop_signals(void)
{
	const struct itimerval never = {};

	setitimer(ITIMER_REAL, &never, NULL);
	if (misdirected || !signals)
		program__fail("%d signals came to a tracer's thread, %d to us", (int)misdirected,
			      (int)signals);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "--help";
	uint64_t until;

	if (!strcmp(mode, "--help"))
		return fputs(help, stdout), 0;
	program__start(&program);
	empty = program__kernel(&program, "empty");
	program__check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	launch_some();
	if (!strcmp(mode, "seccomp"))
		filter_calls();
	else if (!strcmp(mode, "nosocket"))
		filter_sockets(SECCOMP_RET_ERRNO | EACCES);
	else if (!strcmp(mode, "sockdie"))
		filter_sockets(SECCOMP_RET_KILL_PROCESS);
	else if (!strcmp(mode, "chroot"))
		change_root();
	else if (!strcmp(mode, "signals"))
		ask_for_signals();
	else if (strcmp(mode, "vfork") && strcmp(mode, "malloc"))
		return fputs(help, stderr), 2;
	until = program__now() +
		1000000 * (argc > 2 ? program__number(argv[2], "MILLISECONDS") : 300);
	do {
		launch_some();
		if (!strcmp(mode, "vfork"))
			begin_another();
		if (!strcmp(mode, "signals"))
			receive_signals();
		usleep(1000);
	} while (program__now() < until);
	if (!strcmp(mode, "signals"))
		stop_signals();
	program__expect();
	return 0;
}
