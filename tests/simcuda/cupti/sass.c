// SPDX-License-Identifier: BSD-2-Clause
// SASS metrics that play a script: what each instruction of a kernel counts in one launch. As those
// of an H200 were seen to behave: a record has one metric of one instruction, only the first kernel
// that is launched while its context is enabled is patched, and after as many configurations as
// SIMCUDA_SASS_KERNELS says (1) there is no memory for another. tests/simcuda/README.md has the
// script's form.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simcuda/cupti/tracer.h"
#include "tests/simcuda/cupti_sass.h"
#include "tests/simcuda/profiler.h"

#define LINES	512
#define METRICS 64
#define NAME	96

static const char *const names[] = {
	"smsp__sass_inst_executed",
	"smsp__sass_thread_inst_executed",
	"smsp__sass_thread_inst_executed_pred_on",
	"smsp__sass_sectors_mem_global",
	"smsp__sass_sectors_mem_global_ideal",
	"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
	"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
	"smsp__sass_sectors_mem_local",
	"smsp__sass_branch_targets_threads_divergent",
	"smsp__sass_branch_targets_threads_uniform",
};
#define NAMES	 (sizeof(names) / sizeof(names[0]))
#define FIRST_ID 0x5a550000

struct line {
	char function[NAME];
	unsigned int offset;
	char metric[NAME];
	unsigned long long value, counted;
};

static struct line script[LINES] = {
	{"saxpy", 0x70, "smsp__sass_inst_executed", 1000, 0},
	{"saxpy", 0x70, "smsp__sass_thread_inst_executed", 32000, 0},
	{"saxpy", 0x70, "smsp__sass_thread_inst_executed_pred_on", 32000, 0},
	{"saxpy", 0x70, "smsp__sass_sectors_mem_global", 32000, 0},
	{"saxpy", 0x70, "smsp__sass_sectors_mem_global_ideal", 4000, 0},
	{"saxpy", 0x90, "smsp__sass_inst_executed", 1000, 0},
	{"saxpy", 0x90, "smsp__sass_thread_inst_executed", 4000, 0},
	{"saxpy", 0x90, "smsp__sass_thread_inst_executed_pred_on", 4000, 0},
};
static unsigned int lines = 8;
static uint64_t chosen[METRICS];
static size_t chosen_count;
static CUcontext enabled;
static long configured;
static char patched_kernel[NAME];
static bool patched[LINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* SIMCUDA_SASS_SCRIPT: lines of "FUNCTION OFFSET METRIC VALUE", those of one instruction together.
 */
static void read_script(void)
{
	const char *name = getenv("SIMCUDA_SASS_SCRIPT");
	FILE *file = name ? fopen(name, "re") : NULL;

	if (!file)
		return;
	lines = 0;
	while (lines < LINES) {
		struct line line = {};
		int got = fscanf(file, "%95s %x %95s %llu", line.function, &line.offset,
				 line.metric, &line.value);

		if (got != 4)
			break;
		script[lines++] = line;
	}
	fclose(file);
}

static CUptiResult begin(const char *name, const void *parameters)
{
	int fault = sim_profiler__fault(name);

	pthread_once(&once, read_script);
	if (fault)
		return fault;
	if (!parameters || !*(const size_t *)parameters)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (settings__get()->version < 1202)
		return CUPTI_NOT_SUPPORTED;
	pthread_mutex_lock(&lock);
	return CUPTI_SUCCESS;
}

static CUptiResult end(CUptiResult result, const char *what)
{
	pthread_mutex_unlock(&lock);
	if (bridge__get())
		bridge__get()->log("sass %s %d", what, result);
	return result;
}

#define BEGIN(name, type, last)                                                          \
	do {                                                                             \
		CUptiResult wrong = begin("cupti" #name, parameters);                    \
		if (wrong)                                                               \
			return wrong;                                                    \
		if (parameters->size < CUPTI_SIZE_OF(type, last) || parameters->private) \
			return end(CUPTI_ERROR_INVALID_PARAMETER, #name);                \
	} while (0)

/* SIMCUDA_LACKS=NAME,...: as of the range profiler. */
static bool is_lacking(const char *name)
{
	const char *list = getenv("SIMCUDA_LACKS"), *at = list ? strstr(list, name) : NULL;
	char after = at ? at[strlen(name)] : 0;

	return at && (!after || after == ',');
}

CUptiResult cuptiSassMetricsGetProperties(struct cupti_sass_properties *parameters)
{
	BEGIN(SassMetricsGetProperties, cupti_sass_properties, metric);
	for (size_t i = 0; i < NAMES; i++)
		if (!strcmp(names[i], parameters->name) && !is_lacking(names[i])) {
			parameters->metric =
				(struct cupti_sass_metric){FIRST_ID + i, names[i], "simulated"};
			return end(CUPTI_SUCCESS, "properties");
		}
	return end(CUPTI_ERROR_INVALID_PARAMETER, "properties");
}

CUptiResult cuptiSassMetricsSetConfig(struct cupti_sass_config *parameters)
{
	BEGIN(SassMetricsSetConfig, cupti_sass_config, device);
	if (chosen_count)
		return end(CUPTI_ERROR_INVALID_OPERATION, "config");
	if (!parameters->count || parameters->count > METRICS)
		return end(CUPTI_ERROR_INVALID_PARAMETER, "config");
	if (configured++ >=
	    (getenv("SIMCUDA_SASS_KERNELS") ? atol(getenv("SIMCUDA_SASS_KERNELS")) : 1))
		return end(CUPTI_OUT_OF_MEMORY, "config");
	for (size_t i = 0; i < parameters->count; i++)
		chosen[i] = parameters->choices[i].id;
	chosen_count = parameters->count;
	return end(CUPTI_SUCCESS, "config");
}

CUptiResult cuptiSassMetricsUnsetConfig(struct cupti_sass_unset *parameters)
{
	BEGIN(SassMetricsUnsetConfig, cupti_sass_unset, device);
	if (!chosen_count)
		return end(CUPTI_ERROR_INVALID_OPERATION, "unset");
	chosen_count = 0;
	return end(CUPTI_SUCCESS, "unset");
}

static void reset(void)
{
	memset(patched, 0, sizeof(patched));
	patched_kernel[0] = 0;
	for (unsigned int i = 0; i < lines; i++)
		script[i].counted = 0;
}

CUptiResult cuptiSassMetricsEnable(struct cupti_sass_enable *parameters)
{
	BEGIN(SassMetricsEnable, cupti_sass_enable, lazy);
	if (!chosen_count || enabled)
		return end(CUPTI_ERROR_INVALID_OPERATION, "enable");
	enabled = parameters->context;
	reset();
	return end(CUPTI_SUCCESS, "enable");
}

CUptiResult cuptiSassMetricsDisable(struct cupti_sass_disable *parameters)
{
	BEGIN(SassMetricsDisable, cupti_sass_disable, dropped);
	if (!enabled || enabled != parameters->context)
		return end(CUPTI_ERROR_INVALID_OPERATION, "disable");
	enabled = NULL;
	parameters->dropped = 0;
	return end(CUPTI_SUCCESS, "disable");
}

/* Its metric was requested; 0 = it was not. */
static uint64_t id_of(const struct line *line)
{
	for (size_t i = 0; i < chosen_count; i++)
		if (!strcmp(names[chosen[i] - FIRST_ID], line->metric))
			return chosen[i];
	return 0;
}

static size_t count_records(void)
{
	size_t count = 0;

	for (unsigned int i = 0; i < lines; i++)
		count += patched[i] && id_of(&script[i]);
	return count;
}

CUptiResult cuptiSassMetricsGetDataProperties(struct cupti_sass_extent *parameters)
{
	BEGIN(SassMetricsGetDataProperties, cupti_sass_extent, instances);
	if (!enabled || enabled != parameters->context)
		return end(CUPTI_ERROR_INVALID_OPERATION, "extent");
	parameters->records = count_records();
	parameters->instances = 1;
	return end(CUPTI_SUCCESS, "extent");
}

static void put(struct cupti_sass_record *record, const struct line *line)
{
	record->cubin = cubins__sampled(line->function);
	record->function_index = 0;
	record->function = line->function;
	record->offset = line->offset;
	record->values[0] = (struct cupti_sass_value){id_of(line), line->counted};
}

CUptiResult cuptiSassMetricsFlushData(struct cupti_sass_flush *parameters)
{
	size_t count = 0;

	BEGIN(SassMetricsFlushData, cupti_sass_flush, instances);
	if (!enabled || enabled != parameters->context)
		return end(CUPTI_ERROR_INVALID_OPERATION, "flush");
	/* Those of one metric after those of another. */
	for (size_t metric = 0; metric < chosen_count; metric++)
		for (unsigned int i = 0; i < lines && count < parameters->records; i++)
			if (patched[i] && id_of(&script[i]) == chosen[metric])
				put(&parameters->data[count++], &script[i]);
	reset();
	return end(CUPTI_SUCCESS, "flush");
}

void sass__launched(const struct simcuda_call *call, bool ran)
{
	if (!ran || call->domain != SIMCUDA_DRIVER || call->result || !call->symbol)
		return;
	pthread_mutex_lock(&lock);
	if (enabled && enabled == call->context && !patched_kernel[0])
		snprintf(patched_kernel, sizeof(patched_kernel), "%s", call->symbol);
	for (unsigned int i = 0; i < lines && enabled && enabled == call->context; i++)
		if (!strcmp(script[i].function, call->symbol) &&
		    !strcmp(patched_kernel, call->symbol)) {
			patched[i] = true;
			script[i].counted += script[i].value;
		}
	pthread_mutex_unlock(&lock);
}

void sass__context_ends(CUcontext context)
{
	pthread_mutex_lock(&lock);
	if (enabled == context)
		enabled = NULL;
	pthread_mutex_unlock(&lock);
}
