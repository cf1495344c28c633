// SPDX-License-Identifier: BSD-2-Clause
// Needs a mutex before each kernel, which another thread holds while it sleeps.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "tests/workloads/idle/idle_program.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;

static void *hold(void *unused)
{
	prctl(PR_SET_NAME, "holder");
	while (!atomic_load(&over)) {
		pthread_mutex_lock(&mutex);
		usleep(8000);
		pthread_mutex_unlock(&mutex);
		usleep(500);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t steps = idle_program__steps(argc, argv, 60, "A mutex held by a sleeper.");
	pthread_t holder;

	idle_program__start();
	pthread_create(&holder, NULL, hold, NULL);
	for (uint64_t i = 0; i < steps; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		idle_program__kernel(1000000);
		program__check(counted__stream_synchronize(NULL), "cuStreamSynchronize");
	}
	atomic_store(&over, true);
	pthread_join(holder, NULL);
	idle_program__expect("lock");
	return 0;
}
