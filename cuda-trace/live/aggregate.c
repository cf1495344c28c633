// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads the aggregate program, flips its generations and drains its maps. See bpf/aggregate.h for
 * why a drained generation is exact.
 */
#include "cuda-trace/live/aggregate.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bpf/aggregate.skel.h"
#include "cuda-trace/attach/object_load.h"
#include "cuda-trace/driver/driver_source.h"
#include "cuda-trace/attach/load_error.h"
#include "cuda-trace/attach/probe_link.h"
#include "cuda-trace/base/array_grow.h"

#define DEFAULT_QUEUE_SAMPLE 256
#define CHUNK		     1024 /* keys a system call */
#define TALLIES_BYTES	     (2 * AGGREGATE_TALLIES * sizeof(struct tally))
#define BUSY_BYTES	     (AGGREGATE_LINES * AGGREGATE_WORDS * sizeof(uint64_t))
#define SHARE_WORDS	     (AGGREGATE_AGES * AGGREGATE_SHARES * AGGREGATE_WORDS)
#define SHARE_BYTES	     (SHARE_WORDS * sizeof(uint64_t))
#define LONGEST_WAIT_US	     100000 /* for a batch that was preempted in the middle */

struct aggregate {
	struct aggregate_bpf *skeleton;
	struct driver_source *driver; /* until the session takes it */
	uint32_t groups;
	struct file_link {
		struct probe_link *link;
		char *path;
	} * links;
	int links_count;
	bool draining; /* flipped, but a lane was still writing into the old generation */
	uint64_t uses[AGGREGATE_LANES]; /* of lanes that were taken at the flip */
	bool busy[AGGREGATE_LANES];
	uint64_t keys;
	struct tally *tallies; /* the maps of these names, as memory */
	uint64_t *busy_words, *share_words;
};

static const char *const probes[] = {
#define BATCH_PROBE(name, probe, text) #probe,
	CUDA_GROUPS(BATCH_PROBE)
#undef BATCH_PROBE
};

static int hand_out_slots(struct aggregate *aggregate)
{
	int map = bpf_map__fd(aggregate->skeleton->maps.free_slots);

	for (uint32_t slot = 1; slot < AGGREGATE_PROCESSES; slot++)
		if (bpf_map_update_elem(map, NULL, &slot, BPF_ANY))
			return -errno;
	return 0;
}

static int load(struct aggregate *aggregate, const struct aggregate_options *options, bool driver)
{
	struct aggregate_bpf *skeleton = aggregate->skeleton;
	int err = 0;

	*(struct stream_settings *)&skeleton->rodata->settings = options->filter;
	skeleton->rodata->aggregate_settings.by_name = options->by_name;
	skeleton->rodata->aggregate_settings.groups = options->groups;
	skeleton->rodata->aggregate_settings.spans = options->spans;
	skeleton->rodata->aggregate_settings.queue_sample =
		options->queue_sample ? options->queue_sample : DEFAULT_QUEUE_SAMPLE;
	for (int group = 0; group < CUDA_GROUP_COUNT; group++)
		if (!(options->groups >> group & 1))
			bpf_program__set_autoload(
				bpf_object__find_program_by_name(skeleton->obj, probes[group]),
				false);
	aggregate->driver =
		driver_source__new(skeleton->obj, driver,
				   &(struct driver_options){.comm = options->comm,
							    .uid = options->uid,
							    .each = true,
							    .stays = true,
							    .left_out = options->left_out});
	if (options->shares) {
		skeleton->rodata->aggregate_settings.shares = AGGREGATE_SHARES;
		bpf_map__set_max_entries(skeleton->maps.share_words, SHARE_WORDS);
	}
	if (options->pids >= 0)
		err = bpf_map__reuse_fd(skeleton->maps.pids, options->pids);
	if (!err && options->driver_pids >= 0)
		err = bpf_map__reuse_fd(skeleton->maps.driver_pids, options->driver_pids);
	probe_link__prepare(skeleton->obj);
	if (!err)
		err = object_load__skeleton(skeleton->skeleton);
	if (!err)
		err = probe_link__introduce(skeleton->obj);
	return err ? err : hand_out_slots(aggregate);
}

static void *map_memory(const struct bpf_map *map, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int map_memories(struct aggregate *aggregate, bool shares)
{
	const struct aggregate_bpf *skeleton = aggregate->skeleton;

	aggregate->tallies = map_memory(skeleton->maps.tallies, TALLIES_BYTES);
	if (!aggregate->tallies)
		return -errno;
	if (!shares)
		return 0;
	aggregate->busy_words = map_memory(skeleton->maps.busy_words, BUSY_BYTES);
	if (!aggregate->busy_words)
		return -errno;
	aggregate->share_words = map_memory(skeleton->maps.share_words, SHARE_BYTES);
	return aggregate->share_words ? 0 : -errno;
}

/* Kernels before 6.6 may refuse to load the driver programs: then without them. */
static int open_skeleton(struct aggregate *aggregate, const struct aggregate_options *options)
{
	bool driver = options->driver_pids >= 0;
	int err;

	do {
		driver_source__free(aggregate->driver);
		aggregate_bpf__destroy(aggregate->skeleton);
		aggregate->driver = NULL;
		aggregate->skeleton = aggregate_bpf__open();
		err = aggregate->skeleton ? load(aggregate, options, driver) : -errno;
	} while (err && driver && !(driver = false));
	return err;
}

struct aggregate *aggregate__open(const struct aggregate_options *options)
{
	struct aggregate *aggregate = calloc(1, sizeof(*aggregate));
	int err;

	if (!aggregate)
		return NULL;
	aggregate->groups = options->groups;
	err = open_skeleton(aggregate, options);
	if (!err)
		err = map_memories(aggregate, options->shares);
	if (!err)
		return aggregate;
	load_error__say("the aggregate program", err);
	aggregate__close(aggregate);
	return NULL;
}

struct driver_source *aggregate__release_driver(struct aggregate *aggregate)
{
	struct driver_source *driver = aggregate->driver;

	aggregate->driver = NULL;
	return driver;
}

/* An older library without some of the groups is no trouble: the others count. */
int aggregate__add_file(struct aggregate *aggregate, const char *path)
{
	struct probe_wish wishes[CUDA_GROUP_COUNT];
	struct file_link added = {NULL, NULL};
	uint64_t missing;
	int count = 0, err;

	for (int group = 0; group < CUDA_GROUP_COUNT; group++)
		if (aggregate->groups >> group & 1)
			wishes[count++] = (struct probe_wish){probes[group], probes[group], 0};
	if (!array_grow__counted(aggregate->links, aggregate->links_count))
		return -ENOMEM;
	err = probe_link__new(&added.link, aggregate->skeleton->obj,
			      &(struct probe_place){.path = path}, CUDA_PROVIDER, wishes, count,
			      &missing);
	if (err)
		return err;
	added.path = strdup(path);
	aggregate->links[aggregate->links_count++] = added;
	return 0;
}

void aggregate__drop_file(struct aggregate *aggregate, const char *path)
{
	int kept = 0;

	for (int i = 0; i < aggregate->links_count; i++) {
		struct file_link *link = &aggregate->links[i];

		if (!link->path || strcmp(link->path, path)) {
			aggregate->links[kept++] = *link;
			continue;
		}
		probe_link__free(link->link);
		free(link->path);
	}
	aggregate->links_count = kept;
}

static void flip(struct aggregate *aggregate)
{
	struct aggregate_bpf__bss *bss = aggregate->skeleton->bss;

	__atomic_fetch_add(&bss->epoch, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < AGGREGATE_LANES; i++) {
		aggregate->uses[i] = __atomic_load_n(&bss->lanes[i].uses, __ATOMIC_SEQ_CST);
		aggregate->busy[i] = __atomic_load_n(&bss->lanes[i].taken, __ATOMIC_SEQ_CST);
	}
}

/* True once no lane writes into the old generation any more. */
static bool is_quiet(struct aggregate *aggregate)
{
	struct aggregate_lane *lanes = aggregate->skeleton->bss->lanes;
	bool quiet = true;

	for (int i = 0; i < AGGREGATE_LANES; i++) {
		if (aggregate->busy[i] && __atomic_load_n(&lanes[i].taken, __ATOMIC_SEQ_CST) &&
		    __atomic_load_n(&lanes[i].uses, __ATOMIC_SEQ_CST) == aggregate->uses[i])
			quiet = false;
		else
			aggregate->busy[i] = false;
	}
	return quiet;
}

static int settle(struct aggregate *aggregate)
{
	if (!aggregate->draining)
		flip(aggregate);
	aggregate->draining = true;
	for (int waited = 0; !is_quiet(aggregate); waited += 100) {
		if (waited >= LONGEST_WAIT_US)
			return -EAGAIN;
		usleep(100);
	}
	aggregate->draining = false;
	return 0;
}

/* Empties one hash map, or only reads it; the keys and values go to each(). */
struct sweep {
	int map;
	size_t key_size;
	size_t value_size;
	bool empties;
	void (*each)(void *context, const void *key, const void *value);
	void *context;
};

static int sweep(struct sweep *sweep, uint64_t *keys_seen)
{
	char *keys = malloc(CHUNK * sweep->key_size), *values = malloc(CHUNK * sweep->value_size);
	uint64_t token = 0;
	bool first = true;
	int err = keys && values ? 0 : -ENOMEM;

	while (!err) {
		uint32_t count = CHUNK;

		if (sweep->empties)
			err = bpf_map_lookup_and_delete_batch(sweep->map, first ? NULL : &token,
							      &token, keys, values, &count, NULL);
		else
			err = bpf_map_lookup_batch(sweep->map, first ? NULL : &token, &token, keys,
						   values, &count, NULL);
		first = false;
		if (err && err != -ENOENT)
			break;
		for (uint32_t i = 0; i < count; i++)
			sweep->each(sweep->context, keys + i * sweep->key_size,
				    values + i * sweep->value_size);
		*keys_seen += count;
	}
	free(keys);
	free(values);
	return err == -ENOENT ? 0 : err;
}

struct each {
	struct aggregate *aggregate;
	const struct aggregate_sink *sink;
};

static void each_tally(void *context, const void *key, const void *value)
{
	struct each *each = context;

	struct tally *tally = &each->aggregate->tallies[*(const uint32_t *)value];

	each->sink->tally(each->sink->context, key, tally);
	memset(tally, 0, sizeof(*tally));
}

static void each_shape(void *context, const void *key, const void *value)
{
	static const struct shape zero;
	struct each *each = context;
	int map = bpf_map__fd(each->aggregate->skeleton->maps.shapes);
	struct shape shape;

	if (bpf_map_lookup_elem(map, value, &shape))
		return;
	each->sink->shape(each->sink->context, key, &shape);
	bpf_map_update_elem(map, value, &zero, BPF_ANY);
}

static void each_slot(void *context, const void *key, const void *value)
{
	struct each *each = context;
	struct aggregate_process process;
	const uint32_t *slot = value;

	if (!bpf_map_lookup_elem(bpf_map__fd(each->aggregate->skeleton->maps.processes), slot,
				 &process))
		each->sink->process(each->sink->context, *slot, key, &process);
}

static void each_device(void *context, const void *key, const void *value)
{
	const struct aggregate_device_key *device = key;
	struct each *each = context;

	if (each->sink->device)
		each->sink->device(each->sink->context, device->process, value);
}

int aggregate__collect(struct aggregate *aggregate, const struct aggregate_sink *sink)
{
	struct aggregate_bpf *skeleton = aggregate->skeleton;
	struct each each = {aggregate, sink};
	int err = settle(aggregate), old;
	uint64_t others = 0;

	if (err)
		return err;
	/* The processes after the flip: whoever wrote into the old generation is among them. */
	err = sweep(&(struct sweep){bpf_map__fd(skeleton->maps.slots),
				    sizeof(struct aggregate_process_key), sizeof(uint32_t), false,
				    each_slot, &each},
		    &others);
	if (!err)
		err = sweep(&(struct sweep){bpf_map__fd(skeleton->maps.devices),
					    sizeof(struct aggregate_device_key),
					    sizeof(struct cuda_device), false, each_device, &each},
			    &others);
	if (err)
		return err;
	old = !(skeleton->bss->epoch & 1);
	aggregate->keys = 0;
	err = sweep(&(struct sweep){bpf_map__fd(old ? skeleton->maps.tally_places1
						    : skeleton->maps.tally_places0),
				    sizeof(struct tally_key), sizeof(uint32_t), true, each_tally,
				    &each},
		    &aggregate->keys);
	if (!err)
		err = sweep(&(struct sweep){bpf_map__fd(old ? skeleton->maps.shape_places1
							    : skeleton->maps.shape_places0),
					    sizeof(struct shape_key), sizeof(uint32_t), true,
					    each_shape, &each},
			    &aggregate->keys);
	skeleton->bss->named[old] = 0;
	skeleton->bss->tallied[old] = 0;
	skeleton->bss->shaped[old] = 0;
	return err;
}

struct owner {
	int map;
	uint32_t serial;
};

static void drop_block(void *context, const void *key, const void *value)
{
	const struct driver_block_key *block = key;
	const struct owner *owner = context;

	if (block->serial == owner->serial)
		bpf_map_delete_elem(owner->map, key);
}

/* What it never freed. */
static void drop_blocks(struct aggregate *aggregate, uint32_t serial)
{
	struct owner owner = {bpf_map__fd(aggregate->skeleton->maps.driver_blocks), serial};
	uint64_t blocks = 0;

	sweep(&(struct sweep){owner.map, sizeof(struct driver_block_key),
			      sizeof(struct driver_block), false, drop_block, &owner},
	      &blocks);
}

void aggregate__forget(struct aggregate *aggregate, uint32_t slot,
		       const struct aggregate_process_key *key, uint32_t serial)
{
	static const struct aggregate_process zero;
	struct aggregate_bpf *skeleton = aggregate->skeleton;

	for (uint32_t device = 0; device < AGGREGATE_DEVICES; device++) {
		struct aggregate_device_key device_key = {slot, device};

		bpf_map_delete_elem(bpf_map__fd(skeleton->maps.devices), &device_key);
	}
	if (key->source == EVENT_SOURCE_DRIVER)
		drop_blocks(aggregate, serial);
	bpf_map_delete_elem(bpf_map__fd(skeleton->maps.slots), key);
	bpf_map_update_elem(bpf_map__fd(skeleton->maps.processes), &slot, &zero, BPF_ANY);
	bpf_map_update_elem(bpf_map__fd(skeleton->maps.free_slots), NULL, &slot, BPF_ANY);
}

void aggregate__state(const struct aggregate *aggregate, struct aggregate_state *state)
{
	const struct aggregate_bpf__bss *bss = aggregate->skeleton->bss;

	*state = (struct aggregate_state){.counters = bss->counters, .keys = aggregate->keys};
	for (int i = 0; i < AGGREGATE_LANES; i++) {
		state->batches += bss->lanes[i].batches;
		state->program_ns += bss->lanes[i].ns;
	}
	for (int gpu = 0; gpu < AGGREGATE_DEVICES; gpu++) {
		state->gpu_busy_ns[gpu] = bss->gpu_points[AGGREGATE_BUSY_LINE(gpu)]
					  << AGGREGATE_POINT_BITS;
		state->gpu_copy_ns[gpu] = bss->gpu_points[AGGREGATE_COPY_LINE(gpu)]
					  << AGGREGATE_POINT_BITS;
	}
}

void aggregate__spans(const struct aggregate *aggregate, struct aggregate_spans *sum)
{
	const struct aggregate_spans *spans = aggregate->skeleton->bss->spans;

	memset(sum, 0, sizeof(*sum));
	for (int lane = 0; lane < AGGREGATE_LANES; lane++)
		for (int stamped = 0; stamped < 2; stamped++)
			for (int step = 0; step < AGGREGATE_SPANS; step++)
				sum->launches[stamped][step] += spans[lane].launches[stamped][step];
}

struct aggregate_shares aggregate__shares(const struct aggregate *aggregate)
{
	struct aggregate_bpf__bss *bss = aggregate->skeleton->bss;

	return (struct aggregate_shares){
		.words = aggregate->share_words,
		.busy_words = aggregate->busy_words,
		.owners = (uint64_t *)bss->share_owners,
		.taken = (uint64_t *)&bss->share_taken,
		.points = (const uint64_t *)bss->share_points,
		.gpu_points = (const uint64_t *)bss->gpu_points,
		.late = (const uint64_t *)&bss->share_late,
	};
}

void aggregate__detach(struct aggregate *aggregate)
{
	for (int i = 0; i < aggregate->links_count; i++) {
		probe_link__free(aggregate->links[i].link);
		free(aggregate->links[i].path);
	}
	aggregate->links_count = 0;
}

void aggregate__close(struct aggregate *aggregate)
{
	if (!aggregate)
		return;
	aggregate__detach(aggregate);
	free(aggregate->links);
	driver_source__free(aggregate->driver);
	if (aggregate->tallies)
		munmap(aggregate->tallies, TALLIES_BYTES);
	if (aggregate->busy_words)
		munmap(aggregate->busy_words, BUSY_BYTES);
	if (aggregate->share_words)
		munmap(aggregate->share_words, SHARE_BYTES);
	aggregate_bpf__destroy(aggregate->skeleton);
	free(aggregate);
}
