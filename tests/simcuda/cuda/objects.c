// SPDX-License-Identifier: BSD-2-Clause
// Memory of the driver's objects, all on one list: what a program does not destroy is the driver's
// business and no leak of the program, as with the real one.
#include <stdlib.h>
#include "tests/simcuda/cuda/driver.h"

struct object {
	struct object *next, **link;
	char body[] __attribute__((aligned(16)));
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;

/* Zeroed; never NULL. */
void *object__new(size_t size)
{
	struct object *object = calloc(1, sizeof(*object) + size);

	if (!object)
		abort();
	pthread_mutex_lock(&lock);
	object->next = objects;
	object->link = &objects;
	if (objects)
		objects->link = &object->next;
	objects = object;
	pthread_mutex_unlock(&lock);
	return object->body;
}

void object__free(void *body)
{
	struct object *object = (struct object *)((char *)body - offsetof(struct object, body));

	pthread_mutex_lock(&lock);
	*object->link = object->next;
	if (object->next)
		object->next->link = object->link;
	pthread_mutex_unlock(&lock);
	free(object);
}
