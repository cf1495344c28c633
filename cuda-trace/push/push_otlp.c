// SPDX-License-Identifier: BSD-2-Clause
/*
 * One sample type to a profile: a source has one of its GPU time and one of its numbers of kernels,
 * or one of its PC samples. All refer to one dictionary.
 */
#include "cuda-trace/push/push_otlp.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/push/push_attributes.h"
#include "cuda-trace/push/push_dictionary.h"

#define PROFILE_ID_BYTES 16

struct push_otlp {
	const struct push_common_labels *labels;
	uint64_t from, until;
	struct push_dictionary dictionary;
	Otlp__ResourceProfiles **list;
	size_t count, capacity;
};

struct push_otlp *push_otlp__new(const struct push_common_labels *labels, uint64_t from,
				 uint64_t until)
{
	struct push_otlp *otlp = calloc(1, sizeof(*otlp));

	if (!otlp)
		return NULL;
	otlp->labels = labels;
	otlp->from = from;
	otlp->until = until;
	if (!push_dictionary__init(&otlp->dictionary))
		return otlp;
	push_dictionary__free(&otlp->dictionary);
	free(otlp);
	return NULL;
}

/* A message of the request, with its defaults. */
#define NEW(otlp, type, init)                                                                   \
	({                                                                                      \
		type *message_ = push_arena__get(&(otlp)->dictionary.arena, sizeof(*message_)); \
                                                                                                \
		if (message_)                                                                   \
			init(message_);                                                         \
		message_;                                                                       \
	})

/* An array with that one element. */
static void *list_of(struct push_otlp *otlp, void *element)
{
	void **list = push_arena__get(&otlp->dictionary.arena, sizeof(*list));

	if (list)
		*list = element;
	return list;
}

static Otlp__ValueType *value_type(struct push_otlp *otlp, const char *type, const char *unit)
{
	Otlp__ValueType *value = NEW(otlp, Otlp__ValueType, otlp__value_type__init);

	if (!value)
		return NULL;
	value->type_strindex = push_dictionary__string(&otlp->dictionary, type);
	value->unit_strindex = push_dictionary__string(&otlp->dictionary, unit);
	return value;
}

static Otlp__Profile *new_profile(struct push_otlp *otlp, const char *type, const char *unit,
				  size_t samples)
{
	Otlp__Profile *profile = NEW(otlp, Otlp__Profile, otlp__profile__init);
	uint8_t *id = push_arena__get(&otlp->dictionary.arena, PROFILE_ID_BYTES);

	if (!profile || !id)
		return NULL;
	profile->sample_type = value_type(otlp, type, unit);
	profile->time_unix_nano = otlp->from;
	profile->duration_nano = otlp->until - otlp->from;
	if (getrandom(id, PROFILE_ID_BYTES, GRND_NONBLOCK) == PROFILE_ID_BYTES) {
		profile->profile_id.data = id;
		profile->profile_id.len = PROFILE_ID_BYTES;
	}
	profile->samples =
		push_arena__get(&otlp->dictionary.arena, samples * sizeof(*profile->samples));
	return profile->sample_type && profile->samples ? profile : NULL;
}

static bool add_sample(struct push_otlp *otlp, Otlp__Profile *profile, int32_t stack,
		       int32_t *attributes, size_t attribute_count, int64_t number)
{
	Otlp__Sample *sample = NEW(otlp, Otlp__Sample, otlp__sample__init);
	int64_t *value = push_arena__get(&otlp->dictionary.arena, sizeof(*value));

	if (!sample || !value)
		return false;
	*value = number;
	sample->stack_index = stack;
	sample->attribute_indices = attributes;
	sample->n_attribute_indices = attribute_count;
	sample->values = value;
	sample->n_values = 1;
	profile->samples[profile->n_samples++] = sample;
	return true;
}

static bool add_leaf(struct push_otlp *otlp, const struct stacks *stacks, uint32_t leaf,
		     int32_t *locations, Otlp__Profile *const profiles[PUSH_OTLP_PROFILES])
{
	const struct stacks_node *node = &stacks->nodes[leaf];
	struct push_dictionary *dictionary = &otlp->dictionary;
	int32_t *attributes = push_arena__get(&dictionary->arena, 2 * sizeof(*attributes));
	int32_t stack;

	if (!attributes)
		return false;
	attributes[0] = push_dictionary__number(dictionary, "cuda.device", node->device);
	stack = push_dictionary__stack(dictionary, stacks, leaf, locations);
	if (stacks->samples)
		return add_sample(otlp, profiles[0], stack, attributes, 1, node->ns);
	attributes[1] = push_dictionary__number(dictionary, "cuda.stream", node->stream);
	return add_sample(otlp, profiles[0], stack, attributes, 2, node->ns) &&
	       add_sample(otlp, profiles[1], stack, attributes, 2, node->count);
}

static Otlp__ScopeProfiles *scope_of(struct push_otlp *otlp, Otlp__Profile **profiles, size_t count)
{
	Otlp__ScopeProfiles *scope = NEW(otlp, Otlp__ScopeProfiles, otlp__scope_profiles__init);
	Otlp__Scope *who = NEW(otlp, Otlp__Scope, otlp__scope__init);

	if (!scope || !who)
		return NULL;
	who->name = (char *)"cuda-trace";
	who->version = (char *)VERSION;
	scope->scope = who;
	scope->profiles = profiles;
	scope->n_profiles = count;
	return scope;
}

static bool add_leaves(struct push_otlp *otlp, const struct stacks *stacks,
		       Otlp__Profile *const profiles[PUSH_OTLP_PROFILES])
{
	int32_t *locations = calloc(stacks->count, sizeof(*locations));
	bool added = locations != NULL;

	for (size_t i = 1; added && i < stacks->count; i++)
		if (stacks->nodes[i].leaf)
			added = add_leaf(otlp, stacks, i, locations, profiles);
	free(locations);
	return added;
}

static size_t count_leaves(const struct stacks *stacks)
{
	size_t leaves = 0;

	for (size_t i = 1; i < stacks->count; i++)
		leaves += stacks->nodes[i].leaf;
	return leaves;
}

size_t push_otlp__profiles(const struct stacks *stacks)
{
	return stacks->samples ? 1 : 2;
}

static bool new_profiles(struct push_otlp *otlp, const struct stacks *stacks,
			 Otlp__Profile *profiles[PUSH_OTLP_PROFILES])
{
	size_t leaves = count_leaves(stacks);

	if (stacks->samples) {
		profiles[0] = new_profile(otlp, "gpu_pc_samples", "count", leaves);
		return profiles[0];
	}
	profiles[0] = new_profile(otlp, "gpu_time", "nanoseconds", leaves);
	profiles[1] = new_profile(otlp, "kernels", "count", leaves);
	return profiles[0] && profiles[1];
}

int push_otlp__add(struct push_otlp *otlp, const struct push_source *source,
		   const struct stacks *stacks)
{
	struct push_arena *arena = &otlp->dictionary.arena;
	Otlp__ResourceProfiles *resource =
		NEW(otlp, Otlp__ResourceProfiles, otlp__resource_profiles__init);
	Otlp__Profile **profiles = push_arena__get(arena, PUSH_OTLP_PROFILES * sizeof(*profiles));
	Otlp__ScopeProfiles *scope;

	if (!resource || !profiles || !new_profiles(otlp, stacks, profiles))
		return -ENOMEM;
	scope = scope_of(otlp, profiles, push_otlp__profiles(stacks));
	resource->resource = push_attributes__resource(arena, otlp->labels, source);
	resource->scope_profiles = scope ? list_of(otlp, scope) : NULL;
	resource->n_scope_profiles = 1;
	if (!resource->resource || !resource->scope_profiles)
		return -ENOMEM;
	if (!add_leaves(otlp, stacks, profiles))
		return -ENOMEM;
	if (otlp->dictionary.failed || arena->failed ||
	    !array_grow__for_one(otlp->list, otlp->capacity, otlp->count))
		return -ENOMEM;
	otlp->list[otlp->count++] = resource;
	return 0;
}

int push_otlp__end(struct push_otlp *otlp, uint8_t **body, size_t *size)
{
	Otlp__ProfilesRequest request = OTLP__PROFILES_REQUEST__INIT;
	Otlp__Dictionary dictionary = OTLP__DICTIONARY__INIT;
	int err = push_dictionary__finish(&otlp->dictionary, &dictionary);

	request.resource_profiles = otlp->list;
	request.n_resource_profiles = otlp->count;
	request.dictionary = &dictionary;
	if (!err) {
		*size = otlp__profiles_request__get_packed_size(&request);
		*body = malloc(*size + 1);
		err = *body ? 0 : -ENOMEM;
	}
	if (!err)
		otlp__profiles_request__pack(&request, *body);
	push_dictionary__free(&otlp->dictionary);
	free(otlp->list);
	free(otlp);
	return err;
}

uint64_t push_otlp__rejected(const uint8_t *answer, size_t size)
{
	Otlp__ProfilesResponse *response = otlp__profiles_response__unpack(NULL, size, answer);
	int64_t rejected =
		response && response->partial_success ? response->partial_success->rejected : 0;

	otlp__profiles_response__free_unpacked(response, NULL);
	return rejected > 0 ? rejected : 0;
}
