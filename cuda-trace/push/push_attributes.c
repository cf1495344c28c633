// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_attributes.h"

#include <string.h>

/* Where OpenTelemetry has none, in its style. */
static const char *const origin_keys[ORIGIN_NAME_COUNT] = {
	[ORIGIN_k8s_namespace] = "k8s.namespace.name",
	[ORIGIN_k8s_pod] = "k8s.pod.name",
	[ORIGIN_k8s_container] = "k8s.container.name",
	[ORIGIN_container] = "container.name",
	[ORIGIN_slurm_job] = "slurm.job.id",
	[ORIGIN_slurm_step] = "slurm.step.id",
	[ORIGIN_unit] = "systemd.unit",
};

bool push_attributes__begin(struct push_attributes *attributes, struct push_arena *arena)
{
	attributes->arena = arena;
	attributes->count = 0;
	attributes->list = push_arena__get(arena, PUSH_ATTRIBUTES_MAX * sizeof(*attributes->list));
	return attributes->list != NULL;
}

/* Its value, to be filled in; NULL = there is no space, or it has a value. */
static Otlp__AnyValue *add(struct push_attributes *attributes, const char *key)
{
	Otlp__KeyValue *pair = push_arena__get(attributes->arena, sizeof(*pair));
	Otlp__AnyValue *value = push_arena__get(attributes->arena, sizeof(*value));
	char *name = push_arena__text(attributes->arena, key);

	if (!pair || !value || !name || attributes->count == PUSH_ATTRIBUTES_MAX)
		return NULL;
	for (size_t i = 0; i < attributes->count; i++)
		if (!strcmp(attributes->list[i]->key, key))
			return NULL;
	otlp__key_value__init(pair);
	otlp__any_value__init(value);
	pair->key = name;
	pair->value = value;
	attributes->list[attributes->count++] = pair;
	return value;
}

void push_attributes__text(struct push_attributes *attributes, const char *key, const char *text)
{
	char *copy = *text ? push_arena__text(attributes->arena, text) : NULL;
	Otlp__AnyValue *value = copy ? add(attributes, key) : NULL;

	if (!value)
		return;
	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = copy;
}

void push_attributes__number(struct push_attributes *attributes, const char *key, int64_t number)
{
	Otlp__AnyValue *value = add(attributes, key);

	if (!value)
		return;
	value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value->int_value = number;
}

static void put_source(struct push_attributes *attributes, const struct push_common_labels *labels,
		       const struct push_source *source)
{
	push_attributes__text(attributes, "service.name", push_labels__service(labels, source));
	if (source->pid)
		push_attributes__number(attributes, "process.pid", source->pid);
	push_attributes__text(attributes, "process.executable.name", source->comm);
	push_attributes__text(attributes, "container.id", source->container);
	for (int i = 0; i < ORIGIN_NAME_COUNT; i++)
		push_attributes__text(attributes, origin_keys[i], origin__name(&source->origin, i));
}

Otlp__Resource *push_attributes__resource(struct push_arena *arena,
					  const struct push_common_labels *labels,
					  const struct push_source *source)
{
	Otlp__Resource *resource = push_arena__get(arena, sizeof(*resource));
	struct push_attributes attributes;

	if (!resource || !push_attributes__begin(&attributes, arena))
		return NULL;
	for (size_t i = 0; i < labels->count; i++)
		push_attributes__text(&attributes, labels->list[i].name, labels->list[i].value);
	if (source)
		put_source(&attributes, labels, source);
	else
		push_attributes__text(&attributes, "service.name",
				      labels->service ? labels->service : "cuda-trace");
	push_attributes__text(&attributes, "host.name", labels->host);
	otlp__resource__init(resource);
	resource->attributes = attributes.list;
	resource->n_attributes = attributes.count;
	return resource;
}
