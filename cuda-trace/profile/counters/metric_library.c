// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child opens libcupti and writes one line a metric; the parent reads them. CUPTI's profiler host
 * functions need neither a driver nor a GPU for it, if the chip is named.
 *
 * Own declarations; each structure begins with its size, which CUPTI checks (12.6 and later). The
 * agent's own are compared with NVIDIA's headers in tests/agent/layout, and so are these.
 */
#include "cuda-trace/profile/counters/metric_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/inventory/libcupti_open.h"
#include "cuda-trace/profile/counters/metric_library_calls.h"
#include "cuda-trace/base/clock.h"

#define TEXT_MAX (4 << 20)
#define WAIT_MS	 20000

/* Of the first GPU, where there is one. */
static bool ask_chip(void *library, char *chip, size_t size)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int) = NULL;
	int (*initialize)(struct cupti_profiler_initialize *) =
		dlsym(library, "cuptiProfilerInitialize");
	int (*name)(struct cupti_chip_name *) = dlsym(library, "cuptiDeviceGetChipName");
	struct cupti_profiler_initialize begin = {
		.size = CUPTI_SIZE_OF(cupti_profiler_initialize, private)};
	struct cupti_chip_name ask = {.size = CUPTI_SIZE_OF(cupti_chip_name, name)};

	if (driver)
		*(void **)&init = dlsym(driver, "cuInit");
	/* The agent must not start in this process. */
	setenv("CUDA_TRACE", "off", 1);
	unsetenv("CUDA_INJECTION64_PATH");
	if (!init || !initialize || !name || init(0) || initialize(&begin) || name(&ask) ||
	    !ask.name)
		return false;
	snprintf(chip, size, "%s", ask.name);
	return true;
}

/* With libcupti 12.8 and 12.9 no properties were returned of any metric (H200), though they count
 * as 13.0 does. Which of these calls they refuse is unknown: so each may fail, and a name is still
 * a name.
 */
static void ask_properties(const struct library_calls *calls, struct cupti_host_properties *ask,
			   const char *rollup)
{
	const char *name = ask->metric;
	char full[256];

	if (!calls->properties(ask))
		return;
	snprintf(full, sizeof(full), "%s%s", name, rollup);
	ask->metric = full;
	if (calls->properties(ask))
		ask->unit = ask->description = NULL;
	ask->metric = name;
}

static void write_type(FILE *to, const struct library_calls *calls, void *host, int type)
{
	static const char *const types[] = {"counter", "ratio", "throughput"};
	struct cupti_host_base_metrics base = {
		.size = CUPTI_SIZE_OF(cupti_host_base_metrics, count), .host = host, .type = type};
	struct cupti_host_sub_metrics sub = {
		.size = CUPTI_SIZE_OF(cupti_host_sub_metrics, names), .host = host, .type = type};

	if (calls->base(&base) || !base.count)
		return;
	sub.metric = base.names[0];
	fprintf(to, "rollups\t%s\t", types[type]);
	if (calls->sub(&sub))
		sub.count = 0;
	else
		for (size_t i = 0; i < sub.count; i++)
			fprintf(to, "%s%s", i ? " " : "", sub.names[i]);
	fputc('\n', to);
	for (size_t i = 0; i < base.count; i++) {
		struct cupti_host_properties ask = {
			.size = CUPTI_SIZE_OF(cupti_host_properties, type),
			.host = host,
			.metric = base.names[i]};

		ask_properties(calls, &ask, sub.count ? sub.names[0] : "");
		fprintf(to, "metric\t%s\t%s\t%s\t%s\n", base.names[i], types[type],
			ask.unit ? ask.unit : "", ask.description ? ask.description : "");
	}
}

static void *new_host(const struct library_calls *calls, const char *chip)
{
	struct cupti_host_initialize host = {.size = CUPTI_SIZE_OF(cupti_host_initialize, host),
					     .chip = chip};

	return calls->host(&host) ? NULL : host.host;
}

/* A question mark says that a metric may be missing: whether it is has been found out before. */
static size_t split(char *request, const char **names, size_t most)
{
	size_t count = 0;
	char *name;

	while (count < most && (name = strsep(&request, ",")))
		if (*name)
			names[count++] = name + (*name == '?');
	return count;
}

static unsigned int passes_of(const struct library_calls *calls, const char *chip,
			      const char **names, size_t count)
{
	void *host = new_host(calls, chip);
	size_t size, passes = 0;

	if (host)
		free(metric_library_calls__image(calls, host, names, count, &size, &passes));
	return passes;
}

/* Each into the first set that takes it. */
static void write_sets(FILE *to, const struct library_calls *calls, const char *chip,
		       const char **names, size_t count)
{
	static const char *sets[METRIC_SETS][256];
	size_t counts[METRIC_SETS] = {}, made = 0, at;

	for (size_t i = 0; i < count; i++) {
		if (passes_of(calls, chip, &names[i], 1) != 1) {
			fprintf(to, "alone\t%s\n", names[i]);
			continue;
		}
		for (at = 0; at < made; at++) {
			sets[at][counts[at]] = names[i];
			if (passes_of(calls, chip, sets[at], counts[at] + 1) == 1)
				break;
		}
		if (at == METRIC_SETS)
			continue;
		sets[at][counts[at]++] = names[i];
		made += at == made;
	}
	for (at = 0; at < made; at++)
		for (size_t i = 0; i < counts[at]; i++)
			fprintf(to, "%s%s%s", i ? "," : "set\t", sets[at][i],
				i + 1 < counts[at] ? "" : "\n");
}

static void write_passes(FILE *to, const struct library_calls *calls, const char *chip,
			 const char *request, bool split_up)
{
	const char *names[256], *kept[256];
	char *copy = strdup(request);
	size_t count = copy ? split(copy, names, 256) : 0, left = 0;
	void *host = new_host(calls, chip);

	for (size_t i = 0; i < count; i++) {
		struct cupti_host_properties ask = {
			.size = CUPTI_SIZE_OF(cupti_host_properties, type),
			.host = host,
			.metric = names[i]};

		if (!calls->properties(&ask))
			kept[left++] = names[i];
	}
	fprintf(to, "passes\t%u\n", left ? passes_of(calls, chip, kept, left) : 0);
	if (split_up)
		write_sets(to, calls, chip, kept, left);
}

static void be_the_child(int out, const char *named, const char *request, bool split_up)
{
	FILE *to = fdopen(out, "w");
	struct library_calls calls;
	char path[512], chip[32] = "";
	void *library = libcupti_open__open(path, sizeof(path)), *host;
	int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (quiet >= 0)
		dup2(quiet, STDOUT_FILENO);
	if (!library)
		fprintf(to, "why\tno libcupti was found\n");
	else if (!metric_library_calls__find(&calls, library))
		fprintf(to, "why\t%s is older than CUDA 12.6: it has no range profiler\n", path);
	else if (named ? !snprintf(chip, sizeof(chip), "%s", named)
		       : !ask_chip(library, chip, sizeof(chip)))
		fprintf(to, "why\tthere is no GPU whose chip could be used; name a chip\n");
	else if (!(host = new_host(&calls, chip)))
		fprintf(to, "why\t%s does not know the chip %s\n", path, chip);
	else {
		fprintf(to, "chip\t%s\npath\t%s\n", chip, path);
		if (request)
			write_passes(to, &calls, chip, request, split_up);
		for (int type = 0; type < 3; type++)
			write_type(to, &calls, host, type);
		fprintf(to, "end\n");
	}
	fclose(to);
	/* Not exit(): NVIDIA's libraries would clean up. */
	_exit(0);
}

/* Until its end, or for so long. */
static size_t read_all(int in, char *text, size_t size)
{
	long until = monotonic__ms() + WAIT_MS;
	size_t used = 0;

	while (used + 1 < size) {
		struct pollfd ready = {.fd = in, .events = POLLIN};
		long left = until - monotonic__ms();
		ssize_t n;

		if (left <= 0 || poll(&ready, 1, left) <= 0)
			break;
		n = read(in, text + used, size - used - 1);
		if (n <= 0)
			break;
		used += n;
	}
	text[used] = 0;
	return used;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct metric_row *)a)->name, ((const struct metric_row *)b)->name);
}

static const char *const rollup_types[] = {"counter", "ratio", "throughput"};

static const char *rollups_of(const char *type, const char *const rollups[3])
{
	for (int i = 0; i < 3; i++)
		if (!strcmp(type, rollup_types[i]) && rollups[i])
			return rollups[i];
	return "";
}

/* NULL where a line has fewer fields. */
static char *field(char **rest)
{
	char *text = strsep(rest, "\t");

	return text ? text : "";
}

static bool parse_line(struct metric_library *library, char *line, const char *rollups[3],
		       char *why, size_t size)
{
	char *rest = line, *what = field(&rest), *name = field(&rest);
	struct metric_row *row;

	if (!strcmp(what, "why"))
		snprintf(why, size, "%s", name);
	else if (!strcmp(what, "chip"))
		snprintf(library->chip, sizeof(library->chip), "%s", name);
	else if (!strcmp(what, "path"))
		snprintf(library->path, sizeof(library->path), "%s", name);
	else if (!strcmp(what, "passes"))
		library->passes = strtoul(name, NULL, 10);
	else if (!strcmp(what, "set") && library->set_count < METRIC_SETS)
		library->sets[library->set_count++] = name;
	else if (!strcmp(what, "alone") && library->alone_count < METRIC_SETS)
		library->alone[library->alone_count++] = name;
	for (int i = 0; i < 3 && !strcmp(what, "rollups"); i++)
		if (!strcmp(name, rollup_types[i]))
			rollups[i] = field(&rest);
	if (!strcmp(what, "metric")) {
		row = &library->rows[library->count++];
		row->name = name;
		row->type = field(&rest);
		row->unit = field(&rest);
		row->description = field(&rest);
		row->rollups = rollups_of(row->type, rollups);
	}
	return !strcmp(what, "end");
}

static int parse_lines(struct metric_library *library, char *why, size_t size)
{
	const char *rollups[3] = {};
	char *rest = library->text, *line;
	size_t lines = 1;
	bool whole = false;

	for (const char *at = library->text; *at; at++)
		lines += *at == '\n';
	library->rows = calloc(lines, sizeof(library->rows[0]));
	snprintf(why, size, "libcupti did not answer");
	while (library->rows && (line = strsep(&rest, "\n")))
		whole |= parse_line(library, line, rollups, why, size);
	if (!whole || !library->rows)
		return -1;
	qsort(library->rows, library->count, sizeof(library->rows[0]), by_name);
	return 0;
}

static int load(struct metric_library *library, const char *chip, const char *request,
		bool split_up, char *why, size_t size)
{
	int ends[2], status;
	pid_t child;

	memset(library, 0, sizeof(*library));
	snprintf(why, size, "no memory, or no process");
	library->text = malloc(TEXT_MAX);
	if (!library->text || pipe2(ends, O_CLOEXEC))
		return -1;
	child = fork();
	if (!child)
		be_the_child(ends[1], chip, request, split_up);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -1;
	}
	read_all(ends[0], library->text, TEXT_MAX);
	close(ends[0]);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return parse_lines(library, why, size);
}

int metric_library__load(struct metric_library *library, const char *chip, const char *request,
			 char *why, size_t size)
{
	return load(library, chip, request, false, why, size);
}

int metric_library__split(struct metric_library *library, const char *request, char *why,
			  size_t size)
{
	return load(library, NULL, request, true, why, size);
}

void metric_library__free(struct metric_library *library)
{
	free(library->rows);
	free(library->text);
	memset(library, 0, sizeof(*library));
}

const struct metric_row *metric_library__find(const struct metric_library *library,
					      const char *metric)
{
	size_t length = strcspn(metric, ".");

	for (size_t i = 0; i < library->count; i++)
		if (strlen(library->rows[i].name) == length &&
		    !strncmp(library->rows[i].name, metric, length))
			return &library->rows[i];
	/* The names of a few begin with a group and a dot themselves. */
	for (size_t i = 0; i < library->count; i++) {
		length = strlen(library->rows[i].name);
		if (strchr(library->rows[i].name, '.') &&
		    !strncmp(library->rows[i].name, metric, length) &&
		    (!metric[length] || metric[length] == '.'))
			return &library->rows[i];
	}
	return NULL;
}

int metric_library__has_rollup(const struct metric_row *row, const char *metric)
{
	const char *rollup = metric + strlen(row->name), *at = row->rollups;

	while (*at) {
		size_t length = strcspn(at, " ");

		if (strlen(rollup) == length && !strncmp(at, rollup, length))
			return true;
		at += length + (at[length] == ' ');
	}
	return false;
}
