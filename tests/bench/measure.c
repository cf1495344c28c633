// SPDX-License-Identifier: BSD-2-Clause
/* measure FILE CMD…: runs CMD and writes "WALL_MS PEAK_RSS_KIB CPU_MS" to FILE; CMD's exit status.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double tv_ms(struct timeval t)
{
	return t.tv_sec * 1e3 + t.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start = ms();
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3)
		return fputs("usage: measure FILE CMD...\n", stderr), 2;
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		return 1;
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%.2f %ld %.2f\n", ms() - start, usage.ru_maxrss,
		tv_ms(usage.ru_utime) + tv_ms(usage.ru_stime));
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
