// SPDX-License-Identifier: BSD-2-Clause
/*
 * `with_pid NUMBER COMMAND...` runs COMMAND as the process of that number, as it may happen to
 * anybody once all numbers were used; its status is COMMAND's. Waits for the one before it to be
 * reaped.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t number = argc > 2 ? atoi(argv[1]) : 0, child;
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&number,
		.set_tid_size = 1,
	};
	int status = 0;

	for (int i = 0; i < 500; i++) {
		child = syscall(SYS_clone3, &args, sizeof(args));
		if (child >= 0 || errno != EEXIST)
			break;
		usleep(10000);
	}
	if (!child) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0) {
		fprintf(stderr, "with_pid: %d: %s\n", number, strerror(errno));
		return 126;
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
