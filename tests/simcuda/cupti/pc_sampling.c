// SPDX-License-Identifier: BSD-2-Clause
// PC sampling that plays a script: each range from Start to Stop brings all of its samples once, to
// a client that does the calls in their order. tests/simcuda/README.md has the script's form.
#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/cupti_pc.h"

#define REASONS	 8
#define CONTEXTS 16
#define LINES	 1024
#define PART_NS	 90000000 /* a range that goes on brings its script each so often */
#define PREFIX	 "smsp__pcsamp_warps_issue_stalled_"

static const char *const reasons[REASONS] = {
	PREFIX "barrier",
	PREFIX "barrier_not_issued",
	PREFIX "long_scoreboard",
	PREFIX "long_scoreboard_not_issued",
	PREFIX "selected",
	PREFIX "selected_not_issued",
	PREFIX "wait",
	PREFIX "wait_not_issued",
};

struct line {
	char function[128], reason[32], file[128];
	unsigned int offset, samples, number;
};

static struct line script[LINES] = {
	{"saxpy", "long_scoreboard", "saxpy.cu", 0x70, 600, 12},
	{"saxpy", "wait", "saxpy.cu", 0x70, 100, 12},
	{"saxpy", "wait", "saxpy.cu", 0x90, 200, 13},
	{"saxpy", "selected", "", 0x90, 100, 0},
};
static unsigned int lines = 4;
static uint64_t cubins[LINES]; /* of the script's lines; 0 = not looked for yet */
static uint64_t dropped_each, other_each;

static struct {
	CUcontext context;
	bool enabled, configured, started;
	uint64_t since;		    /* ns, of the part of a range that goes on */
	uint64_t ranges, delivered; /* parts that ended, and that were handed out */
	unsigned int next;	    /* line of the range that is handed out */
} sampled[CONTEXTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cupti_checksum_callback checksum_callback;

static void read_script(void)
{
	const char *name = getenv("SIMCUDA_PC_SCRIPT");
	FILE *file = name ? fopen(name, "r") : NULL;
	char text[512];

	if (!file)
		return;
	memset(script, 0, sizeof(script));
	lines = 0;
	while (fgets(text, sizeof(text), file) && lines < LINES) {
		struct line *line = &script[lines];
		unsigned long long number;

		if (sscanf(text, "dropped %llu", &number) == 1)
			dropped_each = number;
		else if (sscanf(text, "other %llu", &number) == 1)
			other_each = number;
		else if (sscanf(text, "%127s %x %31s %u %127s %u", line->function, &line->offset,
				line->reason, &line->samples, line->file, &line->number) >= 4)
			lines++;
	}
	fclose(file);
}

/* SIMCUDA_PC_SAMPLING: an error of Enable, "hang" or "slow:MS" of Start. */
static CUptiResult trouble(bool starting)
{
	const char *what = getenv("SIMCUDA_PC_SAMPLING");
	struct timespec time = {};

	if (!what)
		return CUPTI_SUCCESS;
	while (starting && !strcmp(what, "hang"))
		pause();
	if (starting && !strncmp(what, "slow:", 5)) {
		time.tv_nsec = atol(what + 5) * 1000000 % 1000000000;
		time.tv_sec = atol(what + 5) / 1000;
		nanosleep(&time, NULL);
	}
	return starting ? CUPTI_SUCCESS : atoi(what);
}

static int place_of(CUcontext context)
{
	int free_one = -1;

	for (int i = 0; i < CONTEXTS; i++) {
		if (sampled[i].context == context)
			return i;
		if (!sampled[i].context && free_one < 0)
			free_one = i;
	}
	if (free_one >= 0)
		sampled[free_one].context = context;
	return free_one;
}

/* The context's place, with the lock held; -1 without it. */
static int enter(const void *parameters, size_t least, CUptiResult *result)
{
	const struct cupti_pc_context *of = parameters;
	uint32_t id, device;
	int place;

	*result = CUPTI_ERROR_INVALID_PARAMETER;
	if (!of || of->size < least)
		return -1;
	*result = CUPTI_ERROR_NOT_INITIALIZED;
	if (!bridge__get())
		return -1;
	*result = CUPTI_ERROR_INVALID_CONTEXT;
	if (!bridge__get()->context_ids(of->context, &id, &device))
		return -1;
	pthread_once(&once, read_script);
	pthread_mutex_lock(&lock);
	place = place_of(of->context);
	if (place < 0)
		pthread_mutex_unlock(&lock);
	*result = CUPTI_SUCCESS;
	return place;
}

static CUptiResult leave(CUptiResult result, const char *what)
{
	pthread_mutex_unlock(&lock);
	bridge__get()->log("pc_sampling %s %d", what, result);
	return result;
}

#define CONTEXT_SIZE CUPTI_PC_SIZE(struct cupti_pc_context, context)

CUptiResult cuptiPCSamplingGetNumStallReasons(struct cupti_pc_reason_count *count)
{
	CUptiResult result;
	int i = enter(count, CUPTI_PC_SIZE(struct cupti_pc_reason_count, count), &result);

	if (i < 0)
		return result;
	if (!sampled[i].enabled)
		return leave(CUPTI_ERROR_INVALID_OPERATION, "count");
	*count->count = REASONS;
	return leave(CUPTI_SUCCESS, "count");
}

CUptiResult cuptiPCSamplingGetStallReasons(struct cupti_pc_reasons *to)
{
	CUptiResult result;
	int place = enter(to, CUPTI_PC_SIZE(struct cupti_pc_reasons, names), &result);

	if (place < 0)
		return result;
	if (!sampled[place].enabled)
		return leave(CUPTI_ERROR_INVALID_OPERATION, "reasons");
	for (size_t i = 0; i < to->count && i < REASONS; i++) {
		to->indexes[i] = i + 1;
		snprintf(to->names[i], CUPTI_PC_REASON_NAME, "%s", reasons[i]);
	}
	return leave(CUPTI_SUCCESS, "reasons");
}

CUptiResult cuptiPCSamplingEnable(struct cupti_pc_context *of)
{
	CUptiResult result = trouble(false);
	int i;

	if (result)
		return result;
	i = enter(of, CONTEXT_SIZE, &result);
	if (i < 0)
		return result;
	/* A real one was seen to crash a program then. */
	if (activity__kinds() >> CUPTI_KIND_CONCURRENT_KERNEL & 1)
		fault__log("PC sampling beside kernels");
	/* A real one cannot tell whose the samples are then. */
	if (activity__kinds() & (1ULL << CUPTI_KIND_MEMCPY | 1ULL << CUPTI_KIND_MEMSET))
		fault__log("PC sampling beside copies");
	sampled[i].enabled = true;
	sampled[i].configured = sampled[i].started = false;
	sampled[i].ranges = sampled[i].delivered = 0;
	return leave(CUPTI_SUCCESS, "enable");
}

/* As on an H200: a launch in the middle of such a call never returns, nor does the call. */
static atomic_int switching, launching, launched;
static atomic_bool locked_up;

static void lock_up(void)
{
	atomic_store(&locked_up, true);
	bridge__get()->log("pc_sampling locked up");
	for (;;)
		pause();
}

void pc_sampling__launch_begins(void)
{
	atomic_fetch_add(&launching, 1);
	atomic_fetch_add(&launched, 1);
	if (atomic_load(&switching))
		lock_up();
}

bool pc_sampling__sees_launch(void)
{
	return atomic_load(&launching) > 0;
}

void pc_sampling__launch_ends(void)
{
	atomic_fetch_sub(&launching, 1);
}

static void switch_slowly(void)
{
	const struct timespec time = {.tv_nsec = 2000000};

	atomic_store(&switching, 1);
	if (!atomic_load(&launching))
		nanosleep(&time, NULL);
	if (atomic_load(&launching))
		lock_up();
	atomic_store(&switching, 0);
}

CUptiResult cuptiPCSamplingDisable(struct cupti_pc_context *of)
{
	CUptiResult result;
	int i;

	switch_slowly();
	i = enter(of, CONTEXT_SIZE, &result);

	if (i < 0)
		return result;
	if (!sampled[i].enabled)
		return leave(CUPTI_ERROR_INVALID_OPERATION, "disable");
	memset(&sampled[i], 0, sizeof(sampled[i]));
	/* As on an H200. */
	bridge__get()->break_captures();
	return leave(CUPTI_SUCCESS, "disable");
}

CUptiResult cuptiPCSamplingSetConfigurationAttribute(struct cupti_pc_configuration *to)
{
	CUptiResult result;
	int place = enter(to, CUPTI_PC_SIZE(struct cupti_pc_configuration, attributes), &result);
	bool start_stop = false, data = false;

	if (place < 0)
		return result;
	if (!sampled[place].enabled)
		return leave(CUPTI_ERROR_INVALID_OPERATION, "configure");
	for (size_t i = 0; i < to->count; i++) {
		start_stop |= to->attributes[i].type == CUPTI_PC_START_STOP &&
			      to->attributes[i].number == 1;
		data |= to->attributes[i].type == CUPTI_PC_DATA && to->attributes[i].data;
		to->attributes[i].status = CUPTI_SUCCESS;
	}
	sampled[place].configured = start_stop && data;
	return leave(CUPTI_SUCCESS, "configure");
}

CUptiResult cuptiPCSamplingGetConfigurationAttribute(struct cupti_pc_configuration *of)
{
	CUptiResult result;
	int place = enter(of, CUPTI_PC_SIZE(struct cupti_pc_configuration, attributes), &result);

	if (place < 0)
		return result;
	for (size_t i = 0; i < of->count; i++) {
		of->attributes[i].status = CUPTI_SUCCESS;
		of->attributes[i].number = of->attributes[i].type == CUPTI_PC_PERIOD ? 12 : 0;
	}
	return leave(CUPTI_SUCCESS, "configuration");
}

/* One context at a time. */
static bool any_started(void)
{
	for (int i = 0; i < CONTEXTS; i++)
		if (sampled[i].started)
			return true;
	return false;
}

void pc_sampling__context_ends(CUcontext context)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < CONTEXTS; i++)
		if (sampled[i].context == context)
			memset(&sampled[i], 0, sizeof(sampled[i]));
	pthread_mutex_unlock(&lock);
}

/* While a context is enabled, kernels cannot be traced from then on. */
bool pc_sampling__is_enabled(void)
{
	bool enabled = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < CONTEXTS; i++)
		enabled |= sampled[i].enabled;
	pthread_mutex_unlock(&lock);
	return enabled;
}

/* Another process samples the GPU: always, or at the first time. */
static bool is_busy(void)
{
	static int starts;
	const char *mode = getenv("SIMCUDA_PC_SAMPLING");

	return mode && (!strcmp(mode, "busy") || (!strcmp(mode, "busy-once") && !starts++));
}

CUptiResult cuptiPCSamplingStart(struct cupti_pc_context *of)
{
	CUptiResult result;
	int i;

	trouble(true);
	switch_slowly();
	i = enter(of, CONTEXT_SIZE, &result);
	if (i < 0)
		return result;
	if (!sampled[i].configured || any_started())
		return leave(CUPTI_ERROR_INVALID_OPERATION, "start");
	if (is_busy())
		return leave(CUPTI_ERROR_HARDWARE_BUSY, "start");
	sampled[i].started = true;
	sampled[i].since = clock__now();
	bridge__get()->log("pc_sampling launches before: %d", atomic_load(&launched));
	return leave(CUPTI_SUCCESS, "start");
}

CUptiResult cuptiPCSamplingStop(struct cupti_pc_context *of)
{
	CUptiResult result;
	int i;

	switch_slowly();
	i = enter(of, CONTEXT_SIZE, &result);

	if (i < 0)
		return result;
	if (!sampled[i].started)
		return leave(CUPTI_ERROR_INVALID_OPERATION, "stop");
	sampled[i].started = false;
	sampled[i].ranges++;
	return leave(CUPTI_SUCCESS, "stop");
}

static uint32_t reason_index(const char *reason)
{
	for (uint32_t i = 0; i < REASONS; i++)
		if (!strcmp(reasons[i] + sizeof(PREFIX) - 1, reason))
			return i + 1;
	return 0;
}

/* A copy for each range, for the client to free; records of one function share it. */
static char *name_of(const struct line *line)
{
	static char *last;

	if (line == script || strcmp(line[-1].function, line->function))
		last = strdup(line->function);
	return last;
}

/* The lines of one instruction stand one behind the other. */
static unsigned int put_record(struct cupti_pc_record *record, unsigned int at)
{
	const struct line *first = &script[at];

	if (!cubins[at])
		cubins[at] = cubins__sampled(first->function);
	record->cubin = cubins[at];
	record->offset = first->offset;
	record->function = name_of(first);
	record->stall_count = 0;
	for (; at < lines && script[at].offset == first->offset &&
	       !strcmp(script[at].function, first->function);
	     at++) {
		struct cupti_pc_stall *stall = &record->stalls[record->stall_count++];

		stall->reason = reason_index(script[at].reason);
		stall->samples = script[at].samples;
	}
	return at;
}

CUptiResult cuptiPCSamplingGetData(struct cupti_pc_get *get)
{
	struct cupti_pc_data *data = get->data;
	CUptiResult result;
	int i = enter(get, CUPTI_PC_SIZE(struct cupti_pc_get, data), &result);

	if (i < 0)
		return result;
	if (!sampled[i].configured || data->size < sizeof(*data))
		return leave(CUPTI_ERROR_INVALID_OPERATION, "data");
	if (sampled[i].started && clock__now() - sampled[i].since >= PART_NS) {
		sampled[i].since = clock__now();
		sampled[i].ranges++;
	}
	data->count = data->remaining = 0;
	data->total = data->dropped = data->other = 0;
	data->range = sampled[i].delivered;
	if (sampled[i].delivered == sampled[i].ranges)
		return leave(CUPTI_SUCCESS, "data");
	if (!sampled[i].next) {
		for (unsigned int at = 0; at < lines; at++)
			data->total +=
				strstr(script[at].reason, "not_issued") ? 0 : script[at].samples;
		data->dropped = dropped_each;
		data->other = other_each;
		data->total += dropped_each + other_each;
	}
	while (sampled[i].next < lines && data->count < data->capacity)
		sampled[i].next = put_record(&data->records[data->count++], sampled[i].next);
	data->remaining = lines - sampled[i].next;
	if (!data->remaining) {
		sampled[i].next = 0;
		sampled[i].delivered++;
	}
	return leave(CUPTI_SUCCESS, "data");
}

/* An ELF file of sections without contents: with lines, if the script has any. */
void pc_sampling__compile(unsigned int which, CUpti_ModuleResourceData *module)
{
	static const char names[] = "\0.shstrtab\0.debug_line";
	static struct {
		Elf64_Ehdr header;
		Elf64_Shdr sections[3];
		char names[sizeof(names)];
	} cubin = {
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
			   .e_shoff = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shstrndx = 1},
		.sections[1] = {.sh_name = 1, .sh_size = sizeof(names)},
		.sections[2] = {.sh_name = 11},
	};

	pthread_once(&once, read_script);
	if (cubins__read(which, module))
		return;
	memcpy(cubin.names, names, sizeof(names));
	cubin.sections[1].sh_offset = (char *)cubin.names - (char *)&cubin;
	cubin.header.e_shnum = 2;
	for (unsigned int i = 0; i < lines; i++)
		if (*script[i].file)
			cubin.header.e_shnum = 3;
	module->pCubin = (const char *)&cubin;
	module->cubinSize = sizeof(cubin);
}

CUptiResult cuptiGetSassToSourceCorrelation(struct cupti_source_line *to)
{
	if (!to || to->size < CUPTI_PC_SIZE(struct cupti_source_line, folder) || !to->cubin ||
	    !to->function || !to->cubin_size)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (unsigned int i = 0; i < lines; i++)
		if (script[i].offset == to->offset && *script[i].file &&
		    !strcmp(script[i].function, to->function)) {
			to->line = script[i].number;
			to->file = strdup(script[i].file);
			to->folder = strdup("/src");
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_UNKNOWN;
}

CUptiResult cuptiRegisterComputeCrcCallback(cupti_checksum_callback callback)
{
	checksum_callback = callback;
	return callback ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
