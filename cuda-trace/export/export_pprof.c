// SPDX-License-Identifier: BSD-2-Clause
/*
 * A pprof profile. Its messages are built from one pool of memory and freed at once. A stack is
 * kernel ← the host's functions ← process; device and stream are labels, so that pprof can group by
 * them or not. Functions that were inlined share the location of the one that they are in, which
 * has a line for each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "cuda-trace/base/array_grow.h"
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_frames.h"
#include "cuda-trace/export/export_mappings.h"
#include "cuda-trace/export/export_pprof.h"
#include "cuda-trace/export/export_stack_tree.h"
#include "cuda-trace/report/report_records.h"
#include "generated/profile.pb-c.h"

struct pprof {
	CudaTrace__Profile profile;
	char **strings;
	size_t string_count, string_capacity;
	struct mapped_files files;
	CudaTrace__Mapping *mappings;
	CudaTrace__Function *functions;
	CudaTrace__Location *locations;
	CudaTrace__Line *lines;
	CudaTrace__Line **line_lists; /* of locations, one after the other */
	size_t listed;
	bool *used; /* a sample has that node's location */
	CudaTrace__Sample *samples;
	CudaTrace__Label *labels;
	CudaTrace__ValueType types[3];
	CudaTrace__ValueType *type_list[2];
	uint64_t *location_ids;
	size_t location_count;
	int64_t *values, comments[2];
	bool failed;
};

#define VALUES	  2
#define LABELS	  3
#define MAX_LINES 65 /* of a location: those of a file of ours have no more */

/* The index of a string, added at the end. It must live as long as the profile. */
static int64_t add_string(struct pprof *pprof, const char *text)
{
	if (!array_grow__for_one(pprof->strings, pprof->string_capacity, pprof->string_count)) {
		pprof->failed = true;
		return 0;
	}
	pprof->strings[pprof->string_count] = (char *)text;
	return pprof->string_count++;
}

/* How many nodes have one location: the innermost, and those that it was inlined into. */
static size_t lines_of(const struct stacks *stacks, size_t node)
{
	size_t count = 1;

	while (stacks->nodes[node].inlined && count < MAX_LINES) {
		node = stacks->nodes[node].parent;
		count++;
	}
	return count;
}

static int allocate(struct pprof *pprof, const struct stacks *stacks)
{
	size_t nodes = stacks->count, frames = 1, lines = 0;

	for (size_t i = 0; i < nodes; i++) {
		frames += stacks->nodes[i].leaf ? stacks->nodes[i].depth : 0;
		lines += lines_of(stacks, i);
	}
	pprof->functions = calloc(nodes, sizeof(*pprof->functions));
	pprof->locations = calloc(nodes, sizeof(*pprof->locations));
	pprof->lines = calloc(nodes, sizeof(*pprof->lines));
	pprof->line_lists = calloc(lines, sizeof(*pprof->line_lists));
	pprof->used = calloc(nodes, sizeof(*pprof->used));
	pprof->samples = calloc(nodes, sizeof(*pprof->samples));
	pprof->labels = calloc(nodes * LABELS, sizeof(*pprof->labels));
	pprof->location_ids = calloc(frames, sizeof(*pprof->location_ids));
	pprof->values = calloc(nodes * VALUES, sizeof(*pprof->values));
	pprof->profile.function = calloc(nodes, sizeof(*pprof->profile.function));
	pprof->profile.location = calloc(nodes, sizeof(*pprof->profile.location));
	pprof->profile.sample = calloc(nodes, sizeof(*pprof->profile.sample));
	for (size_t i = 0; pprof->samples && i < nodes; i++)
		pprof->samples[i].label = calloc(LABELS, sizeof(*pprof->samples[i].label));
	return pprof->functions && pprof->locations && pprof->lines && pprof->line_lists &&
			       pprof->used && pprof->samples && pprof->labels &&
			       pprof->location_ids && pprof->values && pprof->profile.function &&
			       pprof->profile.location && pprof->profile.sample
		       ? 0
		       : -ENOMEM;
}

static void release(struct pprof *pprof, size_t nodes)
{
	for (size_t i = 0; pprof->samples && i < nodes; i++)
		free(pprof->samples[i].label);
	export_mappings__free(&pprof->files);
	free(pprof->mappings);
	free(pprof->profile.mapping);
	free(pprof->functions);
	free(pprof->locations);
	free(pprof->lines);
	free(pprof->line_lists);
	free(pprof->used);
	free(pprof->samples);
	free(pprof->labels);
	free(pprof->location_ids);
	free(pprof->values);
	free(pprof->profile.function);
	free(pprof->profile.location);
	free(pprof->profile.sample);
	free(pprof->strings);
}

/* Name and place. Native functions keep a mapping and an address as well: of those without a line
 * pprof finds it in the file. */
static void put_place(struct pprof *pprof, size_t index, const struct stacks_node *node)
{
	struct python_frame python;
	bool is_python = export_frames__python(node->name, node->module, &python) && python.line;
	int file;

	pprof->functions[index].name = add_string(pprof, is_python ? python.function : node->name);
	pprof->functions[index].system_name = pprof->functions[index].name;
	if (is_python) {
		pprof->lines[index].line = python.line;
		pprof->functions[index].filename = add_string(pprof, node->module);
		return;
	}
	if (node->source) {
		pprof->lines[index].line = node->line;
		pprof->functions[index].filename = add_string(pprof, node->source);
	}
	if (!node->module || !node->build_id)
		return;
	file = export_mappings__find(&pprof->files, node->module, node->build_id, node->address);
	if (file < 0)
		return;
	pprof->locations[index].mapping_id = file + 1;
	pprof->locations[index].address = pprof->files.list[file].base + node->address;
}

/* Function, line and location of one name; ids are the node's index, which is not 0. */
static void put_function(struct pprof *pprof, size_t node, struct stacks_node *of)
{
	cuda_trace__function__init(&pprof->functions[node]);
	cuda_trace__location__init(&pprof->locations[node]);
	cuda_trace__line__init(&pprof->lines[node]);
	if (of->inlined)
		of->name[export_frames__unmarked(of->name)] = '\0';
	pprof->functions[node].id = node;
	pprof->lines[node].function_id = node;
	pprof->locations[node].id = node;
	put_place(pprof, node, of);
	pprof->profile.function[pprof->profile.n_function++] = &pprof->functions[node];
}

/* The innermost function's line comes first. */
static void put_location(struct pprof *pprof, const struct stacks *stacks, size_t node)
{
	CudaTrace__Location *location = &pprof->locations[node];
	size_t count = lines_of(stacks, node);

	location->line = &pprof->line_lists[pprof->listed];
	location->n_line = count;
	for (; count; count--, node = stacks->nodes[node].parent)
		pprof->line_lists[pprof->listed++] = &pprof->lines[node];
	pprof->profile.location[pprof->profile.n_location++] = location;
}

/* No has_functions and the like: with one of them pprof looks for no lines. */
static int put_mappings(struct pprof *pprof)
{
	size_t count = pprof->files.count;

	if (!count)
		return 0;
	pprof->mappings = calloc(count, sizeof(*pprof->mappings));
	pprof->profile.mapping = calloc(count, sizeof(*pprof->profile.mapping));
	if (!pprof->mappings || !pprof->profile.mapping)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct mapped_file *file = &pprof->files.list[i];
		CudaTrace__Mapping *mapping = &pprof->mappings[i];

		cuda_trace__mapping__init(mapping);
		mapping->id = i + 1;
		mapping->memory_start = file->start;
		mapping->memory_limit = file->limit;
		mapping->file_offset = file->offset;
		mapping->filename = add_string(pprof, file->module);
		mapping->build_id = add_string(pprof, file->build_id);
		pprof->profile.mapping[i] = mapping;
	}
	pprof->profile.n_mapping = count;
	return 0;
}

static void put_sample(struct pprof *pprof, const struct stacks *stacks, size_t node,
		       const int64_t keys[LABELS])
{
	const struct stacks_node *leaf = &stacks->nodes[node];
	const int64_t numbers[LABELS] = {leaf->pid, leaf->device, leaf->stream};
	CudaTrace__Sample *sample = &pprof->samples[node];
	CudaTrace__Label **labels = sample->label;
	cuda_trace__sample__init(sample);
	sample->label = labels;
	sample->location_id = &pprof->location_ids[pprof->location_count];
	for (uint32_t at = node; at; at = stacks->nodes[at].parent) {
		if (stacks->nodes[at].place)
			continue;
		sample->location_id[sample->n_location_id++] = at;
		pprof->used[at] = true;
		for (size_t lines = lines_of(stacks, at); lines > 1; lines--)
			at = stacks->nodes[at].parent;
	}
	pprof->location_count += sample->n_location_id;
	sample->value = &pprof->values[node * VALUES];
	sample->value[0] = stacks->samples ? (int64_t)leaf->ns : (int64_t)leaf->count;
	sample->value[1] = leaf->ns;
	sample->n_value = pprof->profile.n_sample_type;
	/* PC samples are of no stream. */
	sample->n_label = stacks->samples ? LABELS - 1 : LABELS;
	for (int i = 0; i < LABELS; i++) {
		CudaTrace__Label *label = &pprof->labels[node * LABELS + i];

		cuda_trace__label__init(label);
		label->key = keys[i];
		label->num = numbers[i];
		labels[i] = label;
	}
	pprof->profile.sample[pprof->profile.n_sample++] = sample;
}

static void put_type(struct pprof *pprof, CudaTrace__ValueType *type, const char *name,
		     const char *unit)
{
	cuda_trace__value_type__init(type);
	type->type = add_string(pprof, name);
	type->unit = add_string(pprof, unit);
}

static void put_types_of_time(struct pprof *pprof)
{
	put_type(pprof, &pprof->types[0], "kernels", "count");
	put_type(pprof, &pprof->types[1], "gpu_time", "nanoseconds");
	put_type(pprof, &pprof->types[2], "gpu_time", "nanoseconds");
	pprof->profile.n_sample_type = 2;
	pprof->profile.default_sample_type = pprof->types[1].type;
	pprof->comments[0] = add_string(pprof, "Time of CUDA kernels on the GPU, by cuda-trace");
	pprof->comments[1] =
		add_string(pprof, "Functions of the host: estimated from a part of the "
				  "launches. Kernels: exact");
}

static void put_types_of_samples(struct pprof *pprof)
{
	put_type(pprof, &pprof->types[0], "gpu_pc_samples", "count");
	put_type(pprof, &pprof->types[2], "gpu_pc_samples", "count");
	pprof->profile.n_sample_type = 1;
	pprof->profile.default_sample_type = pprof->types[0].type;
	pprof->comments[0] = add_string(pprof, "PC samples of CUDA kernels, by cuda-trace");
	pprof->comments[1] = add_string(pprof, "Functions of the host: estimated from the "
					       "launches. Kernels and stall reasons: exact");
}

static void put_head(struct pprof *pprof, const struct stacks *stacks, int64_t start,
		     int64_t duration)
{
	CudaTrace__Profile *profile = &pprof->profile;

	add_string(pprof, "");
	if (stacks->samples)
		put_types_of_samples(pprof);
	else
		put_types_of_time(pprof);
	pprof->type_list[0] = &pprof->types[0];
	pprof->type_list[1] = &pprof->types[1];
	profile->sample_type = pprof->type_list;
	profile->period_type = &pprof->types[2];
	profile->period = 1;
	profile->time_nanos = start;
	profile->duration_nanos = duration;
	profile->comment = pprof->comments;
	profile->n_comment = stacks->period > (stacks->samples ? 0 : 1) ? 2 : 1;
}

/* The whole message is in memory; kernels and streams are few, whatever the number of events. */
static int pack(const struct pprof *pprof, uint8_t **packed, size_t *size)
{
	*size = cuda_trace__profile__get_packed_size(&pprof->profile);
	*packed = malloc(*size);
	if (!*packed)
		return -ENOMEM;
	cuda_trace__profile__pack(&pprof->profile, *packed);
	return 0;
}

int export_pprof__pack(struct stacks *stacks, int64_t start, int64_t duration, uint8_t **packed,
		       size_t *size)
{
	struct pprof pprof = {.profile = CUDA_TRACE__PROFILE__INIT};
	int64_t keys[LABELS];
	int err = allocate(&pprof, stacks);

	if (err)
		goto cleanup;
	put_head(&pprof, stacks, start, duration);
	keys[0] = add_string(&pprof, "pid");
	keys[1] = add_string(&pprof, "cuda_device");
	keys[2] = add_string(&pprof, "cuda_stream");
	for (size_t i = 1; i < stacks->count; i++) {
		/* The pid is a label: profiles of two runs compare by the command. */
		stacks->nodes[i].name[stacks->nodes[i].stable] = '\0';
		if (!stacks->nodes[i].place)
			put_function(&pprof, i, &stacks->nodes[i]);
		if (stacks->nodes[i].leaf)
			put_sample(&pprof, stacks, i, keys);
	}
	for (size_t i = 1; i < stacks->count; i++)
		if (pprof.used[i])
			put_location(&pprof, stacks, i);
	err = put_mappings(&pprof);
	if (err)
		goto cleanup;
	pprof.profile.string_table = pprof.strings;
	pprof.profile.n_string_table = pprof.string_count;
	err = pprof.failed ? -ENOMEM : pack(&pprof, packed, size);
cleanup:
	release(&pprof, stacks->count);
	return err;
}

static int write_zipped(const uint8_t *packed, size_t size, FILE *out)
{
	gzFile zipped = NULL;
	int fd, err;

	if (fflush(out))
		return -errno;
	fd = dup(fileno(out));
	zipped = fd < 0 ? NULL : gzdopen(fd, "wb");
	if (!zipped) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	errno = 0;
	err = gzwrite(zipped, packed, size) == (int)size ? 0 : -EIO;
	if (gzclose(zipped) != Z_OK)
		err = -EIO;
	return err && errno ? -errno : err;
}

int export_pprof(const struct report_file *file, FILE *out)
{
	uint8_t *packed = NULL;
	struct stacks stacks;
	size_t size;
	int err = stacks__read_lines(&stacks, file);

	if (err)
		return err;
	if (stacks.samples) {
		stacks__free(&stacks);
		fprintf(stderr,
			"cuda-trace report: samples have no times for pprof: use --folded\n");
		return -ENOTSUP;
	}
	err = export_pprof__pack(
		&stacks,
		report_file__number(file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME",
				    0),
		report_records__duration(file), &packed, &size);
	if (!err)
		err = write_zipped(packed, size, out);
	if (err)
		fprintf(stderr, "cuda-trace: cannot write the profile: %s\n", strerror(-err));
	free(packed);
	stacks__free(&stacks);
	return err;
}
