// SPDX-License-Identifier: BSD-2-Clause
/*
 * cuda-trace report: answers questions about a recording.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/commands/commands.h"
#include "cuda-trace/base/output_file.h"
#include "cuda-trace/commands/report_advice.h"
#include "cuda-trace/commands/report_merge.h"
#include "cuda-trace/commands/report_summary.h"
#include "cuda-trace/columns/columns.h"
#include "cuda-trace/export/export.h"
#include "cuda-trace/export/export_origins.h"
#include "cuda-trace/cli/options.h"
#include "cuda-trace/cli/window_options.h"
#include "cuda-trace/merge/steps.h"
#include "cuda-trace/report/report_compare.h"
#include "cuda-trace/report/report_file.h"
#include "cuda-trace/report/report_output.h"
#include "cuda-trace/report/report_sections.h"
#include "cuda-trace/recording/store_import.h"

#define DEFAULT_PATH	"cuda-trace.db"
#define DEFAULT_KERNELS 25

struct report_options {
	bool kernels, api, memory, copies, memsets, sync, graphs, nvtx, idle, errors, losses;
	bool energy;
	bool processes, stalls, launches, copy_calls, all;
	bool csv, json, compare, runtime_names, merge, steps;
	const char *step_range;
	const char *sql, *import, *output;
	const char *by;
	const char *timeline, *perfetto, *folded, *pprof, *flamegraph, *html, *symbols, *device;
	const char *parquet;
	uint64_t limit, last;
	const char *inputs[5]; /* files that are read; NULL-terminated */
};

#define AT(field) offsetof(struct report_options, field)

static const struct option_row rows[] = {
	{OPTION_HEADING, 0, NULL, NULL, "Tables (default: the summary of stat)", 0},
	{OPTION_FLAG, 0, "kernels", NULL, "kernels, by time on the GPU", AT(kernels)},
	{OPTION_FLAG, 0, "api", NULL, "calls of the CUDA API, by time on the host", AT(api)},
	{OPTION_FLAG, 0, "copies", NULL, "copies, by direction", AT(copies)},
	{OPTION_FLAG, 0, "launches", NULL, "launches without GPU times (source driver)",
	 AT(launches)},
	{OPTION_FLAG, 0, "copy-calls", NULL, "copies without GPU times (source driver)",
	 AT(copy_calls)},
	{OPTION_FLAG, 0, "memsets", NULL, "memsets, by kind of memory", AT(memsets)},
	{OPTION_FLAG, 0, "memory", NULL, "allocations, peaks, leaks", AT(memory)},
	{OPTION_FLAG, 0, "sync", NULL, "synchronisation: where the host waited", AT(sync)},
	{OPTION_FLAG, 0, "graphs", NULL, "CUDA graphs", AT(graphs)},
	{OPTION_FLAG, 0, "nvtx", NULL, "NVTX ranges", AT(nvtx)},
	{OPTION_FLAG, 0, "idle", NULL,
	 "how busy each GPU was; after record --idle, also why\nit was idle", AT(idle)},
	{OPTION_FLAG, 0, "energy", NULL, "joules by kernel and process (record --energy)",
	 AT(energy)},
	{OPTION_FLAG, 0, "errors", NULL, "calls that failed", AT(errors)},
	{OPTION_FLAG, 0, "losses", NULL, "lost records, and why", AT(losses)},
	{OPTION_FLAG, 0, "processes", NULL, "the processes", AT(processes)},
	{OPTION_FLAG, 0, "stalls", NULL, "samples of profile --pc --record, by line and reason",
	 AT(stalls)},
	{OPTION_FLAG, 0, "all", NULL, "every table that has rows", AT(all)},
	{OPTION_WORD, 0, "by", "WHAT",
	 "kernels by operator, module, line (record -g), range\n(NVTX) or kernel; --folded, "
	 "--flamegraph and --pprof\nare grouped in the same way",
	 AT(by)},
	{OPTION_VALUES, 0, NULL, NULL, "operator,module,line,range,kernel", 0},
	{OPTION_HEADING, 0, NULL, NULL, "Other formats (FILE may be -)", 0},
	{OPTION_TEXT, 0, "html", "FILE", "one page with everything, for a browser", AT(html)},
	{OPTION_TEXT, 0, "timeline", "FILE", "Chrome trace events, as from PyTorch's profiler",
	 AT(timeline)},
	{OPTION_FLAG, 0, "runtime-names", NULL,
	 "with --timeline: give launches runtime-API names, for\nreaders that know only those",
	 AT(runtime_names)},
	{OPTION_TEXT, 0, "perfetto", "FILE", "Perfetto's own format, with grids and registers",
	 AT(perfetto)},
	{OPTION_TEXT, 0, "device", "SAMPLES",
	 "with --html, --timeline, --perfetto: show the output\nof profile --device --json below "
	 "the kernels",
	 AT(device)},
	{OPTION_TEXT, 0, "flamegraph", "FILE", "SVG: GPU time by call stack and kernel",
	 AT(flamegraph)},
	{OPTION_TEXT, 0, "folded", "FILE", "folded stacks", AT(folded)},
	{OPTION_TEXT, 0, "pprof", "FILE", "a profile for pprof", AT(pprof)},
	{OPTION_TEXT, 0, "parquet", "DIR",
	 "a Parquet file for each table, and kernels, copies,\ncalls and ranges with names; DIR is "
	 "new, empty, or\nan older export",
	 AT(parquet)},
	{OPTION_TEXT, 0, "symbols", "FOLDER",
	 "look for missing functions and lines in files below\nFOLDER", AT(symbols)},
	{OPTION_HEADING, 0, NULL, NULL, "Queries and comparison", 0},
	{OPTION_TEXT, 0, "sql", "SELECT", "print the rows of SELECT (docs/reference/schema.md)",
	 AT(sql)},
	{OPTION_FLAG, 0, "compare", NULL,
	 "what changed between two recordings: kernels, copies,\ncalls, waits, or the given tables",
	 AT(compare)},
	{OPTION_FLAG, 0, "merge", NULL,
	 "recordings of several ranks and hosts on one clock:\nwho is late, exposed communication, "
	 "kernels by rank,\niterations; also with --timeline",
	 AT(merge)},
	{OPTION_FLAG, 0, "steps", NULL,
	 "what a step takes on each rank: recordings, or\nsummaries as --steps --json writes them",
	 AT(steps)},
	{OPTION_TEXT, 0, "step-range", "NAME",
	 "what a step or iteration is: an NVTX range (default:\n'" WINDOWS_TORCH_STEPS
	 "' of PyTorch)",
	 AT(step_range)},
	{OPTION_HEADING, 0, NULL, NULL, "Output", 0},
	{OPTION_COUNT, 'n', "count", "COUNT", "at most COUNT rows per table", AT(limit)},
	{OPTION_FLAG, 'j', "json", NULL, "one JSON object per row", AT(json)},
	{OPTION_FLAG, 0, "csv", NULL, "comma-separated, with a header", AT(csv)},
	{OPTION_TEXT, 'o', "output", "FILE", "write to FILE instead of stdout", AT(output)},
	{OPTION_HEADING, 0, NULL, NULL, "Rescue", 0},
	{OPTION_TEXT, 0, "import", "SPOOL",
	 "make a recording (--output) from a .part file, even\nwhile it is being written",
	 AT(import)},
	{OPTION_TIME, 0, "last", "TIME", "with --import: only the last TIME", AT(last)},
	{},
};

static const struct option_usage usage = {
	.command = "report",
	.summary = "Prints tables from a recording or an SQLite export of Nsight Systems.",
	.synopsis = (const char *const[]){"[OPTIONS] [FILE]", "--compare [OPTIONS] OLD NEW",
					  "--merge [OPTIONS] FOLDER|FILE...",
					  "--steps [OPTIONS] FOLDER|FILE...",
					  "--import SPOOL --output FILE", NULL},
	.tables = (const struct option_row *const[]){rows, NULL},
	.examples = "  cuda-trace report\n"
		    "  cuda-trace report --kernels --copies step.db\n"
		    "  cuda-trace report --by operator step.db\n"
		    "  cuda-trace report --compare before.db after.db\n"
		    "  cuda-trace report --merge --timeline all.json runs/\n"
		    "  cuda-trace report --steps runs/\n"
		    "  cuda-trace report --parquet step step.db\n"
		    "  cuda-trace report --csv --sql 'SELECT * FROM TARGET_INFO_GPU' step.db\n",
};

static const struct {
	const char *name;
	size_t offset;
} tables[] = {
	{"kernels", AT(kernels)}, {"api", AT(api)},	      {"copies", AT(copies)},
	{"memsets", AT(memsets)}, {"memory", AT(memory)},     {"sync", AT(sync)},
	{"graphs", AT(graphs)},	  {"nvtx", AT(nvtx)},	      {"idle", AT(idle)},
	{"errors", AT(errors)},	  {"losses", AT(losses)},     {"processes", AT(processes)},
	{"stalls", AT(stalls)},	  {"launches", AT(launches)}, {"copy-calls", AT(copy_calls)},
};

static const struct {
	size_t offset;
	int (*write)(const struct report_file *file, FILE *out);
} exports[] = {
	{AT(html), export_html},	 {AT(timeline), export_timeline},
	{AT(perfetto), export_perfetto}, {AT(flamegraph), export_flamegraph},
	{AT(folded), export_folded},	 {AT(pprof), export_pprof},
};

static enum report_format format_of(const struct report_options *options)
{
	return options->csv ? REPORT_CSV : options->json ? REPORT_JSON : REPORT_TEXT;
}

static int report_tables(const struct report_file *file, const struct report_options *options,
			 FILE *out, bool *any)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !err; i++) {
		bool named = *(const bool *)((const char *)options + tables[i].offset);

		if (!named && !(options->all && sections__any(file, tables[i].name)))
			continue;
		if (*any && format_of(options) != REPORT_JSON)
			putc('\n', out);
		*any = true;
		err = sections__report(file, tables[i].name, out, format_of(options),
				       options->limit);
		if (!err && tables[i].offset == AT(idle))
			err = report_summary__idle(file, format_of(options), out);
	}
	return err;
}

static int report_sql(struct report_file *file, const struct report_options *options, FILE *out)
{
	sqlite3_stmt *statement = NULL;
	const char *rest = NULL;
	int err = 0;

	report_file__restrict(file);
	if (sqlite3_prepare_v2(file->db, options->sql, -1, &statement, &rest))
		return report_file__complain(file);
	while (rest && (*rest == ' ' || *rest == '\n' || *rest == '\t' || *rest == ';'))
		rest++;
	if (!statement || (rest && *rest)) {
		fprintf(stderr, "cuda-trace report: --sql takes one statement\n");
		err = -EINVAL;
	} else if (report_output__write(out, format_of(options), NULL, NULL, statement) < 0) {
		err = report_file__complain(file);
	}
	sqlite3_finalize(statement);
	return err;
}

static int export_to(const struct report_file *file, const struct report_options *options,
		     const char *path, int (*write)(const struct report_file *file, FILE *out))
{
	struct output_file output;
	int err = output_file__open(&output, "report", path, options->inputs);

	if (err)
		return err;
	err = write(file, output.file);
	/* The writers leave failed writes to be found here. */
	if (err && !ferror(output.file))
		fprintf(stderr, "cuda-trace report: cannot write %s: %s\n", path, strerror(-err));
	return output_file__close(&output, ferror(output.file) ? 0 : err);
}

static int write_exports(const struct report_file *file, const struct report_options *options,
			 bool *any)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]) && !err; i++) {
		const char *path =
			*(const char *const *)((const char *)options + exports[i].offset);

		if (path) {
			*any = true;
			err = export_to(file, options, path, exports[i].write);
		}
	}
	return err;
}

/* With a picture or profile, that is grouped instead. */
static int report_by(const struct report_file *file, const struct report_options *options,
		     FILE *out, bool *any)
{
	if (!options->by || options->folded || options->flamegraph || options->pprof)
		return 0;
	if (*any && format_of(options) != REPORT_JSON)
		putc('\n', out);
	*any = true;
	return export_by(file, out, format_of(options), options->limit);
}

static int report_energy(const struct report_file *file, const struct report_options *options,
			 FILE *out, bool *any)
{
	if (*any && format_of(options) != REPORT_JSON)
		putc('\n', out);
	*any = true;
	return report_summary__energy(file, format_of(options),
				      options->limit ? options->limit : DEFAULT_KERNELS, out);
}

/* What there is to say of samples, and of what is missing. */
static int report_samples(const struct report_file *file, const struct report_options *options,
			  FILE *out)
{
	int err = sections__report(file, "stalls", out, format_of(options),
				   options->limit ? options->limit : DEFAULT_KERNELS);

	if (err || options->csv || !sections__any(file, "losses"))
		return err;
	if (!options->json)
		putc('\n', out);
	return sections__report(file, "losses", out, format_of(options), 0);
}

static int report_one(const char *path, const struct report_options *options, FILE *out)
{
	struct report_file file;
	struct report_advice advice;
	bool any = false, exported = false;
	int err = report_file__open(&file, path);

	if (err)
		return err;
	file.symbols = options->symbols;
	file.samples = options->device;
	file.runtime_names = options->runtime_names;
	file.by = options->by ? export_origins__parse(options->by) : REPORT_BY_NONE;
	/* Samples of program counters have no times to give advice on. */
	if (options->html && !sections__any(&file, "stalls") &&
	    !report_advice__read(&advice, &file))
		file.advice = advice.lines;
	err = write_exports(&file, options, &exported);
	if (!err && options->parquet) {
		exported = true;
		err = columns__export(&file, options->parquet);
	}
	if (!err && options->sql)
		err = report_sql(&file, options, out);
	else if (!err)
		err = report_tables(&file, options, out, &any);
	if (!err && options->energy)
		err = report_energy(&file, options, out, &any);
	if (!err && !options->sql)
		err = report_by(&file, options, out, &any);
	any |= exported;
	if (!err && !any && !options->sql && sections__any(&file, "stalls"))
		err = report_samples(&file, options, out);
	else if (!err && !any && !options->sql && options->csv)
		err = sections__report(&file, "kernels", out, REPORT_CSV, options->limit);
	else if (!err && !any && !options->sql)
		err = report_summary__write(&file, format_of(options),
					    options->limit ? options->limit : DEFAULT_KERNELS, out);
	report_file__close(&file);
	return err;
}

/* Without a table named: all of them, or, as one table is what CSV is for, kernels. */
static bool is_compared(const void *context, const char *table)
{
	const struct report_options *options = context;
	bool any = false, named = false;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		bool set = *(const bool *)((const char *)options + tables[i].offset);

		any |= set;
		named |= set && !strcmp(tables[i].name, table);
	}
	return options->all || (any ? named : !options->csv || !strcmp(table, "kernels"));
}

static int compare(char **paths, const struct report_options *options, FILE *out)
{
	struct report_file before, after;
	int err = report_file__open(&before, paths[0]);

	if (err)
		return err;
	err = report_file__open(&after, paths[1]);
	if (!err) {
		const struct report_compare_options wanted = {
			.format = format_of(options),
			.limit = options->limit,
			.wanted = is_compared,
			.context = options,
		};

		err = report_compare__write(&before, &after, &wanted, out);
		report_file__close(&after);
	}
	report_file__close(&before);
	return err;
}

static int import(const struct report_options *options)
{
	const struct import_options wanted = {
		.spool = options->import,
		.path = options->output,
		.keep_spool = true,
		.since_last = options->last,
		.progress = isatty(STDERR_FILENO),
	};

	return import__run(&wanted, NULL);
}

/* An output of one recording. */
static bool has_table(const struct report_options *options, bool timeline)
{
	bool table = options->all || options->energy || options->by || options->sql ||
		     options->compare || options->parquet || options->csv ||
		     options->runtime_names || options->symbols;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		table |= *(const bool *)((const char *)options + tables[i].offset);
	for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++)
		table |= (!timeline || exports[i].offset != AT(timeline)) &&
			 *(const char *const *)((const char *)options + exports[i].offset);
	return table;
}

/* These have their own tables, of all files. */
static int check_files(const struct report_options *options, int files)
{
	const char *name = options->merge ? "--merge" : "--steps";

	if (options->merge && (has_table(options, true) || options->steps))
		return options__misuse(&usage, "--merge goes with --timeline, --step-range, "
					       "--json, --count and --output");
	if (options->steps && has_table(options, false))
		return options__misuse(
			&usage, "--steps goes with --step-range, --json, --count and --output");
	return files ? 0 : options__misuse(&usage, "%s needs folders or files", name);
}

static int check(const struct report_options *options, int argc, char **argv, int operand)
{
	int files = argc - operand;

	if (options->import && (!options->output || files || options->device))
		return options__misuse(&usage,
				       "--import SPOOL needs --output FILE, and no other output");
	if (options->import)
		return 0;
	if (options->device &&
	    (options->compare || (!options->html && !options->timeline && !options->perfetto)))
		return options__misuse(&usage, "--device goes with --html, --timeline or "
					       "--perfetto, which can show samples");
	if (options->by && (options->compare || options->sql))
		return options__misuse(&usage, "--by goes neither with --compare nor with --sql");
	if (options->parquet && (options->compare || !strcmp(options->parquet, "-")))
		return options__misuse(&usage, "--parquet takes a folder, and not with --compare");
	if (options->runtime_names && !options->timeline)
		return options__misuse(&usage, "--runtime-names goes with --timeline");
	if (options->energy && (options->csv || options->compare || options->sql))
		return options__misuse(&usage, "--energy goes neither with --csv nor with "
					       "--compare or --sql");
	if (options->csv && options->json)
		return options__misuse(&usage, "either --csv or --json");
	if (options->compare && files < 2)
		return options__misuse(&usage, "--compare needs two files: OLD NEW");
	if (options->compare && files > 2)
		return options__extra_operand(&usage, argv[operand + 2]);
	if (options->step_range && !options->steps && !options->merge)
		return options__misuse(&usage, "--step-range goes with --steps or --merge");
	if (options->merge || options->steps)
		return check_files(options, files);
	if (!options->compare && files > 1)
		return options__extra_operand(&usage, argv[operand + 1]);
	return 0;
}

/* Every FILE that is written, whatever option names it. */
static int check_outputs(const struct report_options *options)
{
	const char *paths[sizeof(exports) / sizeof(exports[0]) + 1] = {options->output};
	size_t count = 1;

	for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++)
		paths[count++] = *(const char *const *)((const char *)options + exports[i].offset);
	for (size_t i = 0; i < count; i++) {
		if (!paths[i])
			continue;
		if (output_file__check("report", paths[i], options->inputs))
			return EXIT_USAGE;
		for (size_t j = 0; j < i; j++)
			if (paths[j] && !strcmp(paths[i], paths[j]))
				return options__misuse(&usage, "two outputs cannot both be %s",
						       paths[i]);
	}
	return EXIT_OK;
}

/* What is read, so that nothing is written over it. */
static void note_inputs(struct report_options *options, int argc, char **argv, int operand)
{
	const char **input = options->inputs;

	if (options->device)
		*input++ = options->device;
	if (options->import)
		*input++ = options->import;
	else if (operand == argc)
		*input++ = DEFAULT_PATH;
	for (int i = operand; i < argc && i < operand + 2; i++)
		*input++ = argv[i];
}

int cmd_report(int argc, char **argv)
{
	struct report_options options = {0};
	int status, operand = options__parse(&usage, &options, argc, argv, &status);
	struct output_file output;
	int err;

	if (operand < 0)
		return status;
	note_inputs(&options, argc, argv, operand);
	status = check(&options, argc, argv, operand);
	if (!status)
		status = check_outputs(&options);
	if (status)
		return status;
	options.step_range = options.step_range ?: WINDOWS_TORCH_STEPS;
	if (options.import)
		return import(&options) ? EXIT_TROUBLE : EXIT_OK;
	if (options.merge)
		return report_merge__run(
			&(struct report_merge){
				.output = options.output,
				.timeline = options.timeline,
				.range = options.step_range,
				.json = options.json,
				.most = options.limit ? options.limit : DEFAULT_KERNELS,
			},
			argv + operand);
	if (options.steps)
		return step_report__run(
			&(struct step_options){
				.range = options.step_range,
				.output = options.output,
				.json = options.json,
				.most = options.limit ? options.limit : UINT64_MAX,
			},
			argv + operand);
	if (output_file__open(&output, "report", options.output, options.inputs))
		return EXIT_TROUBLE;
	err = options.compare ? compare(argv + operand, &options, output.file)
			      : report_one(operand < argc ? argv[operand] : DEFAULT_PATH, &options,
					   output.file);
	err = output_file__close(&output, err);
	return err ? EXIT_TROUBLE : EXIT_OK;
}
