/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command-line options as rows of tables: each row gives the entry for getopt_long() and the line
 * of
 * --help, which shell completion reads. A command has a list of tables, so that several commands
 * share options.
 */
#ifndef CUDA_TRACE_CLI_OPTIONS_H
#define CUDA_TRACE_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

enum option_kind {
	OPTION_HEADING, /* not an option: `help` starts a group in --help */
	OPTION_FLAG,	/* bool: true when given */
	OPTION_TEXT,	/* const char *: as given */
	OPTION_WORD,	/* const char *: one of the words that an OPTION_VALUES row behind it has */
	OPTION_MAYBE,	/* const char *: an optional value after = or the letter; "" = without */
	OPTION_COUNT,	/* uint64_t: a whole number > 0 */
	OPTION_PID,	/* uint32_t: a process id > 0 */
	OPTION_USER,	/* int64_t: a user name or number */
	OPTION_VALUES,	/* not an option: `help` has the values, or elements of a LIST, of the row
			   before ("auto,cupti"), for checks and completion */
	OPTION_TEXTS,	/* struct option_texts: as given, each time that it is given */
	OPTION_TIME, /* uint64_t, ns: number with ns, us, ms, s, m or h; without a unit seconds */
};

#define OPTION_TEXTS_MAX 8

struct option_texts {
	const char *list[OPTION_TEXTS_MAX];
	uint32_t count;
};

struct option_row {
	enum option_kind kind;
	char letter;	   /* 0 = long only */
	const char *name;  /* long name, without dashes */
	const char *value; /* what --help calls the value; NULL for flags */
	const char *help;  /* a "\n" in it breaks the line */
	size_t offset;	   /* of the field in the structure that the command gave */
};

struct option_usage {
	const char *command;	     /* "trace" */
	const char *summary;	     /* one line */
	const char *const *synopsis; /* lines after "cuda-trace COMMAND ", NULL-terminated */
	const struct option_row *const
		*tables;      /* NULL-terminated; a table ends with name NULL and help NULL */
	const char *examples; /* lines, each "  cuda-trace ...\n" */
};

/*
 * Also answers "--complete OPTION", for shell completion: the values of that option, a line each;
 * status 1 where any text may stand.
 *
 * Parses argv (argv[0] is the command's name) into the structure that the rows' offsets refer to.
 * Returns the index of the first operand, or -1 after --help or a mistake was answered; *status is
 * then the exit status.
 */
int options__parse(const struct option_usage *usage, void *into, int argc, char **argv,
		   int *status);

/* "cuda-trace stat: <text>" and where help is, on stderr; returns EXIT_USAGE. */
int options__misuse(const struct option_usage *usage, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "--NAME: 'word' is none of ...", with the nearest of the words (comma-separated, as in a row);
 * `length` is that of the word, which may have others behind it. Returns EXIT_USAGE. */
int options__unknown_word(const struct option_usage *usage, const char *name, const char *word,
			  size_t length, const char *words);

/* The same for an operand that the command does not take. */
int options__extra_operand(const struct option_usage *usage, const char *operand);

/* options__parse() for a command that takes no operands. False: it ends with *status. */
bool options__parse_alone(const struct option_usage *usage, void *into, int argc, char **argv,
			  int *status);

/* "1.5ms" → ns; 0 or -EINVAL. */
int options__parse_time(const char *text, uint64_t *ns);

/* What trace, stat and similar commands share: which processes, what to keep, where to write. */
struct options {
	uint32_t pid; /* 0 = not given */
	const char *comm;
	int64_t uid; /* -1 = not given */
	const char *cgroup;
	bool all;
	bool attach,
		no_attach;     /* load the library into running programs: also of others, or none */
	const char *kernel;    /* regular expression, NULL = every kernel */
	uint64_t min_duration; /* ns */
	const char *output;    /* file, NULL = stdout or stderr */
	bool json;
	uint64_t count;	   /* 0 = no limit */
	uint64_t duration; /* ns, 0 = no limit */
	uint64_t ring_mib;
	const char *source; /* auto, cupti or driver; NULL = auto */
	bool runtime;	    /* runtime-API launch calls, too */
	bool verbose;
	bool wait;		  /* for all processes that PROGRAM started, not only for itself */
	const char *sample;	  /* ON/PERIOD, NULL = all the time */
	const char *max_overhead; /* a percentage, NULL = none */
	const char *range, *step_range; /* NVTX ranges: window_options.h */
	uint64_t steps, skip_steps;	/* 0 = not given */
	bool profiler_api;
	char **program; /* NULL = none */
};

#define OPTIONS_INIT      \
	{                 \
		.uid = -1 \
	}

extern const struct option_row
	options_targets[]; /* offsets in struct options, which must be first */
extern const struct option_row options_kernels[];
extern const struct option_row options_output[];
extern const struct option_row options_limits[];
extern const struct option_row options_source[];
extern const struct option_row options_sampling[];
extern const struct option_row options_overhead[];
extern const struct option_row options_windows[];

/*
 * Reads the operands (PROGRAM ARGS) and checks that exactly one kind of target was named. 0, or the
 * exit status after a message.
 */
int options__parse_targets(const struct option_usage *usage, struct options *options, int argc,
			   char **argv, int operand);

/* Both, for a command whose structure begins with `options`. False: it ends with *status. */
bool options__parse_with_targets(const struct option_usage *usage, struct options *options,
				 int argc, char **argv, int *status);

#endif
