// SPDX-License-Identifier: BSD-2-Clause
/*
 * It takes 100 ms, as it closes a link. That waits for threads which wait for the tool: none may do
 * so meanwhile.
 */
#include "cuda-trace/driver/driver_trial.h"

#include "cuda-trace/driver/driver_links.h"

static void *run(void *context)
{
	struct driver_trial *trial = context;

	trial->outcome = driver_links__know_processes(trial->object);
	atomic_store(&trial->over, true);
	return NULL;
}

void driver_trial__start(struct driver_trial *trial, struct bpf_object *object)
{
	if (trial->started || trial->known || atomic_load(&trial->over))
		return;
	trial->object = object;
	trial->started = !pthread_create(&trial->thread, NULL, run, trial);
}

bool driver_trial__result(struct driver_trial *trial, struct bpf_object *object, bool waits)
{
	if (trial->known)
		return trial->result;
	if (!waits || !trial->started || atomic_load(&trial->over)) {
		driver_trial__start(trial, object);
		driver_trial__end(trial);
		trial->result = trial->outcome;
	}
	trial->known = true;
	return trial->result;
}

void driver_trial__end(struct driver_trial *trial)
{
	if (trial->started)
		pthread_join(trial->thread, NULL);
	trial->started = false;
}
