// SPDX-License-Identifier: BSD-2-Clause
/*
 * The limits are those of the verdict over a whole kernel (verdict.c), so that both say the same.
 */
#include "cuda-trace/profile/sass/sass_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/counters/verdict.h"

#define LANES	  32
#define CONVERGED 20  /* threads of an instruction: below, it is divergent */
#define USED	  0.5 /* of what is moved */
#define PART	  0.1 /* of a function, that one line must have to be worth a look */

static uint64_t value(const struct sass_counts *counts, enum cuda_sass_metric metric)
{
	return counts->values[metric];
}

static int compare_lines(const void *a, const void *b)
{
	const struct sass_line *first = a, *second = b;
	uint64_t one = value(&first->counts, CUDA_SASS_EXECUTED);
	uint64_t other = value(&second->counts, CUDA_SASS_EXECUTED);

	if (one != other)
		return one < other ? 1 : -1;
	return first->first->at.offset < second->first->at.offset ? -1 : 1;
}

uint32_t sass_lines__find(const struct sass_table *table, uint32_t function,
			  struct sass_line *lines)
{
	uint32_t count = 0;

	for (uint32_t i = sass_table__first(table, function);
	     i < table->instruction_count && table->instructions[i].at.function == function; i++) {
		const struct sass_instruction *instruction = &table->instructions[i];
		uint32_t at = instruction->at.file ? 0 : count;

		while (at < count &&
		       !code_place__is_same_line(&lines[at].first->at, &instruction->at))
			at++;
		if (at == count)
			lines[count++] = (struct sass_line){.first = instruction};
		else if (value(&instruction->counts, CUDA_SASS_EXECUTED) >
			 value(&lines[at].first->counts, CUDA_SASS_EXECUTED))
			lines[at].first = instruction;
		sass_counts__add(&lines[at].counts, &instruction->counts);
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

static uint64_t excess(const struct sass_counts *counts, enum cuda_sass_metric is,
		       enum cuda_sass_metric ideal)
{
	return value(counts, is) > value(counts, ideal) ? value(counts, is) - value(counts, ideal)
							: 0;
}

/* What is lost there, in the finding's own measure. */
static uint64_t cost(const struct sass_counts *counts, enum sass_finding finding)
{
	uint64_t all = LANES * value(counts, CUDA_SASS_EXECUTED);

	switch (finding) {
	case SASS_UNCOALESCED:
		return excess(counts, CUDA_SASS_SECTORS, CUDA_SASS_SECTORS_IDEAL);
	case SASS_DIVERGENT:
		return all > value(counts, CUDA_SASS_THREADS_ON)
			       ? all - value(counts, CUDA_SASS_THREADS_ON)
			       : 0;
	case SASS_CONFLICTS:
		return excess(counts, CUDA_SASS_WAVEFRONTS, CUDA_SASS_WAVEFRONTS_IDEAL);
	default:
		return value(counts, CUDA_SASS_SECTORS_LOCAL);
	}
}

/* NAN, where something is not counted, suffers from nothing. */
static bool suffers(const struct sass_function *function, const struct sass_counts *counts,
		    enum sass_finding finding)
{
	uint64_t sectors = value(counts, CUDA_SASS_SECTORS);
	uint64_t local = value(counts, CUDA_SASS_SECTORS_LOCAL);

	switch (finding) {
	case SASS_UNCOALESCED:
		return function->known & 1u << CUDA_SASS_SECTORS_IDEAL &&
		       sass_ratio(value(counts, CUDA_SASS_SECTORS_IDEAL), sectors) < USED;
	case SASS_DIVERGENT:
		return function->known & 1u << CUDA_SASS_THREADS_ON &&
		       sass_ratio(value(counts, CUDA_SASS_THREADS_ON),
				  value(counts, CUDA_SASS_EXECUTED)) < CONVERGED;
	case SASS_CONFLICTS:
		return function->known & 1u << CUDA_SASS_WAVEFRONTS_IDEAL &&
		       sass_ratio(value(counts, CUDA_SASS_WAVEFRONTS_IDEAL),
				  value(counts, CUDA_SASS_WAVEFRONTS)) < USED;
	default:
		return sass_ratio(local, local + sectors) >= PART;
	}
}

/* What its cost is a part of. */
static uint64_t whole(const struct sass_counts *counts, enum sass_finding finding)
{
	switch (finding) {
	case SASS_UNCOALESCED:
		return value(counts, CUDA_SASS_SECTORS);
	case SASS_DIVERGENT:
		return LANES * value(counts, CUDA_SASS_EXECUTED);
	case SASS_CONFLICTS:
		return value(counts, CUDA_SASS_WAVEFRONTS);
	default:
		return value(counts, CUDA_SASS_SECTORS_LOCAL);
	}
}

const struct sass_line *sass_lines__worst(const struct sass_function *function,
					  const struct sass_line *lines, uint32_t count,
					  enum sass_finding finding)
{
	const struct sass_line *worst = NULL;

	/* Divergence is the whole function's; of accesses one bad line is enough. */
	if (finding == SASS_DIVERGENT && !suffers(function, &function->counts, finding))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		if (suffers(function, &lines[i].counts, finding) &&
		    (!worst || cost(&lines[i].counts, finding) > cost(&worst->counts, finding)))
			worst = &lines[i];
	if (!worst ||
	    sass_ratio(cost(&worst->counts, finding), whole(&function->counts, finding)) < PART)
		return NULL;
	return worst;
}

const char *sass_finding__key(enum sass_finding finding)
{
	static const char *const keys[] = {
#define SASS_KEY(name, key) key,
		SASS_FINDINGS(SASS_KEY)
#undef SASS_KEY
	};

	return keys[finding];
}

void sass_finding__because(enum sass_finding finding, const struct sass_function *function,
			   const struct sass_line *line, char *text, size_t size)
{
	const struct sass_counts *counts = &line->counts;
	double part = 100 * sass_ratio(cost(counts, finding), cost(&function->counts, finding));

	switch (finding) {
	case SASS_UNCOALESCED:
		snprintf(text, size,
			 "%.1f sectors per request where %.1f would do, %.0f%% of all excess "
			 "sectors",
			 sass_ratio(value(counts, CUDA_SASS_SECTORS), counts->requests),
			 sass_ratio(value(counts, CUDA_SASS_SECTORS_IDEAL), counts->requests),
			 part);
		break;
	case SASS_DIVERGENT:
		snprintf(text, size, "%.1f of 32 threads are active, %.0f%% of all inactive ones",
			 sass_ratio(value(counts, CUDA_SASS_THREADS_ON),
				    value(counts, CUDA_SASS_EXECUTED)),
			 part);
		break;
	case SASS_CONFLICTS:
		snprintf(text, size,
			 "%.1f wavefronts per access where %.1f would do, %.0f%% of all excess "
			 "wavefronts",
			 sass_ratio(value(counts, CUDA_SASS_WAVEFRONTS), counts->accesses),
			 sass_ratio(value(counts, CUDA_SASS_WAVEFRONTS_IDEAL), counts->accesses),
			 part);
		break;
	default:
		snprintf(text, size, "%.0f%% of the sectors of spilled registers", part);
	}
}

const char *sass_finding__advice(enum sass_finding finding)
{
	struct verdict verdict = {};

	switch (finding) {
	case SASS_UNCOALESCED:
		verdict.kind = VERDICT_UNCOALESCED;
		return verdict__advice(&verdict);
	case SASS_DIVERGENT:
		verdict.kind = VERDICT_DIVERGENT;
		return verdict__advice(&verdict);
	case SASS_CONFLICTS:
		return "let the threads of a warp access 32 different banks: pad the rows, or "
		       "swizzle";
	default:
		return "fewer live values, indexes known to the compiler, or more registers per "
		       "thread";
	}
}
