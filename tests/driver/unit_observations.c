// SPDX-License-Identifier: BSD-2-Clause
/*
 * observations.h in a tool that runs for long: processes that nothing observes, or late, come and
 * go. Prints how many were counted.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/capture/observations.h"

#define PROCESSES 600

int main(void)
{
	struct observations *observations = observations__new();

	for (int i = 0; i < PROCESSES; i++) {
		pid_t missed = fork(), late;

		if (!missed)
			return pause();
		late = fork();
		if (!late)
			return pause();
		/* As each look at the process does. */
		observations__miss(observations, missed, UNOBSERVED_UNPROBED);
		observations__miss(observations, missed, UNOBSERVED_UNPROBED);
		observations__note_late(observations, late, LATE_LOST);
		kill(missed, SIGKILL);
		kill(late, SIGKILL);
		waitpid(missed, NULL, 0);
		waitpid(late, NULL, 0);
	}
	printf("unobserved %llu, late %llu\n",
	       (unsigned long long)observations__unobserved(observations),
	       (unsigned long long)observations__late(observations));
	observations__free(observations);
	return 0;
}
