// SPDX-License-Identifier: BSD-2-Clause
/*
 * Many functions at once, because nvdisasm takes most of its time to start. It prints nothing of a
 * cubin in which it does not know one instruction: then each half is tried.
 *
 * Failure modes: 1. text that is none, or of other functions, or at places that do not rise: such
 * lines are left out. 2. functions that make it fail for the others, again and again: the total
 * time is limited. 3. gigabytes of text: its size is limited, and how many lines are kept.
 */
#include "cuda-trace/profile/pc/disassembly.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/profile/code/cubin.h"
#include "cuda-trace/profile/code/image_reader.h"
#include "cuda-trace/profile/pc/disassembly_text.h"
#include "cuda-trace/base/clock.h"
#include "cuda-trace/profile/code/nvdisasm.h"
#include "cuda-trace/base/text.h"

#define MAX_FUNCTIONS 512
#define MAX_AT_ONCE   (1u << 20) /* bytes of code */
#define MAX_MS	      10000

struct disassembly {
	struct nvdisasm program;
	int trouble; /* -errno: there is none */
	struct disassembly_text *text;
	struct disassembled codes[MAX_FUNCTIONS];
};

/* What to disassemble, functions with most samples first. */
struct wish {
	struct pc_function *function;
	struct disassembled *to;
	struct cubin_code code; /* .bytes NULL = there is none */
	bool looked_up;
};

struct asking {
	struct disassembly *all;
	struct wish wishes[MAX_FUNCTIONS];
	uint32_t count;
	uint32_t without_code;
	uint32_t left_out; /* those with the fewest samples */
	uint64_t until_ms;
	enum nvdisasm_end end; /* the first one that was not as it should be */
	char said[160];	       /* its first complaint */
};

struct disassembly *disassembly__new(void)
{
	struct disassembly *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->trouble = nvdisasm__open(&all->program);
	all->text = disassembly_text__new();
	if (all->text)
		return all;
	disassembly__free(all);
	return NULL;
}

void disassembly__free(struct disassembly *all)
{
	if (!all)
		return;
	nvdisasm__close(&all->program);
	for (uint32_t i = 0; i < MAX_FUNCTIONS; i++)
		free(all->codes[i].lines);
	disassembly_text__free(all->text);
	free(all);
}

bool disassembly__can(const struct disassembly *all)
{
	return !all->trouble;
}

static int by_samples(const void *a, const void *b)
{
	const struct pc_function *first = ((const struct wish *)a)->function;
	const struct pc_function *second = ((const struct wish *)b)->function;

	if (first->counts.samples != second->counts.samples)
		return first->counts.samples < second->counts.samples ? 1 : -1;
	return first < second ? -1 : first > second;
}

/* The code of all wishes for functions of one image, the first of which is `first`. */
static void find_codes(const struct pc_images *images, struct wish *wishes, uint32_t count,
		       uint32_t first, uint64_t until_ms)
{
	uint64_t cubin = wishes[first].function->of.cubin;
	const char **names = calloc(count, sizeof(*names));
	struct cubin_code *codes = calloc(count, sizeof(*codes));
	struct image_reader reader = {.until_ms = until_ms};
	uint32_t found = 0;

	reader.image = pc_images__bytes(images, cubin, &reader.size);
	for (uint32_t i = first; names && i < count; i++)
		if (wishes[i].function->of.cubin == cubin)
			names[found++] = wishes[i].function->of.symbol;
	if (names && codes && reader.image)
		image_reader__codes(&reader, names, found, codes);
	found = 0;
	for (uint32_t i = first; codes && i < count; i++)
		if (wishes[i].function->of.cubin == cubin)
			wishes[i].code = codes[found++];
	for (uint32_t i = first; i < count; i++)
		wishes[i].looked_up |= wishes[i].function->of.cubin == cubin;
	free(names);
	free(codes);
}

/* Those that have code come first: how many. */
static uint32_t with_code(const struct pc_images *images, struct wish *wishes, uint32_t count)
{
	uint64_t until_ms = monotonic__ms() + IMAGE_READER_MS;
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!wishes[i].looked_up)
			find_codes(images, wishes, count, i, until_ms);
	for (uint32_t i = 0; i < count; i++)
		if (wishes[i].code.bytes)
			wishes[found++] = wishes[i];
	return found;
}

static void keep_wishes(struct asking *asking, struct wish *found, uint32_t count)
{
	qsort(found, count, sizeof(*found), by_samples);
	asking->count = count < MAX_FUNCTIONS ? count : MAX_FUNCTIONS;
	asking->left_out = count - asking->count;
	for (uint32_t i = 0; i < asking->count; i++) {
		asking->wishes[i] = found[i];
		asking->wishes[i].to = &asking->all->codes[i];
	}
}

static void find_wishes(struct asking *asking, const struct pc_images *images,
			struct pc_table *table, bool wanted)
{
	bool *requested = calloc(table->function_count + 1, sizeof(*requested));
	struct wish *found = calloc(table->function_count + 1, sizeof(*found));
	uint32_t count = 0, coded;

	for (uint32_t i = 0; requested && i < table->instruction_count; i++)
		requested[table->instructions[i].at.function] |=
			wanted || !table->instructions[i].at.file;
	for (uint32_t i = 0; requested && found && i < table->function_count; i++) {
		if (!requested[i])
			continue;
		if (table->functions[i].of.symbol)
			found[count++].function = &table->functions[i];
		else
			asking->without_code++;
	}
	if (found) {
		coded = with_code(images, found, count);
		asking->without_code += count - coded;
		keep_wishes(asking, found, coded);
	}
	free(found);
	free(requested);
}

/* Whether anything came of all of them. */
static bool ask_once(struct asking *asking, struct wish *const *wishes, uint32_t count)
{
	struct cubin_code codes[CUBIN_FUNCTIONS];
	struct disassembled *to[CUBIN_FUNCTIONS];
	enum nvdisasm_end end = NVDISASM_FAILED;
	size_t size, length;
	bool complete = true;
	uint8_t *cubin;
	char *text;

	for (uint32_t i = 0; i < count; i++) {
		codes[i] = wishes[i]->code;
		to[i] = wishes[i]->to;
	}
	cubin = cubin__make(codes, count, &size);
	if (!cubin)
		return true;
	end = nvdisasm__run(&asking->all->program, cubin, size, asking->until_ms, &text, &length);
	free(cubin);
	if (end != NVDISASM_ENDED && !asking->end)
		asking->end = end;
	disassembly_text__read(asking->all->text, text, length, to, count);
	if (length && !*asking->said)
		disassembly_text__complaint(text, length, asking->said, sizeof(asking->said));
	free(text);
	for (uint32_t i = 0; i < count; i++)
		complete &= to[i]->count != 0;
	return complete;
}

static bool may_go_on(const struct asking *asking)
{
	return !asking->end && monotonic__ms() < asking->until_ms;
}

static void ask(struct asking *asking, struct wish *const *wishes, uint32_t count)
{
	if (!may_go_on(asking) || ask_once(asking, wishes, count) || count < 2)
		return;
	ask(asking, wishes, count / 2);
	ask(asking, wishes + count / 2, count - count / 2);
}

/* As many as go together, of those that were not requested yet: how many. */
static uint32_t gather(struct asking *asking, uint32_t first, bool *requested,
		       struct wish *wishes[CUBIN_FUNCTIONS])
{
	uint32_t count = 0;
	size_t bytes = 0;

	for (uint32_t i = first; i < asking->count && count < CUBIN_FUNCTIONS; i++) {
		struct wish *wish = &asking->wishes[i];

		if (requested[i] || !cubin__go_together(&wish->code, &asking->wishes[first].code) ||
		    bytes + wish->code.size > MAX_AT_ONCE)
			continue;
		requested[i] = true;
		bytes += wish->code.size;
		wishes[count++] = wish;
	}
	return count;
}

static void ask_all(struct asking *asking)
{
	struct wish *wishes[CUBIN_FUNCTIONS];
	bool requested[MAX_FUNCTIONS] = {};

	for (uint32_t i = 0; i < asking->count && may_go_on(asking); i++)
		if (!requested[i])
			ask(asking, wishes, gather(asking, i, requested, wishes));
}

static void hand_out(struct asking *asking, struct pc_table *table)
{
	for (uint32_t i = 0; i < asking->count; i++)
		if (asking->wishes[i].to->count)
			asking->wishes[i].function->code = asking->wishes[i].to;
	for (uint32_t i = 0; i < table->instruction_count; i++) {
		struct pc_instruction *instruction = &table->instructions[i];
		const struct disassembled *code = table->functions[instruction->at.function].code;

		if (code)
			instruction->text = disassembled__at(code, instruction->at.offset);
	}
}

static void say_end(const struct asking *asking)
{
	static const char *const ends[] = {
		[NVDISASM_FAILED] = "cannot be started (it is run without privileges)",
		[NVDISASM_ENDLESS] = "printed without end and was killed",
		[NVDISASM_LATE] = "did not finish in time and was killed",
		[NVDISASM_STOPPED] = "was interrupted",
	};
	uint32_t without = 0;
	char path[256], said[512];

	for (uint32_t i = 0; i < asking->count; i++)
		without += !asking->wishes[i].to->count;
	if (!without)
		return;
	text__show(path, sizeof(path), asking->all->program.path, 60);
	if (asking->end)
		fprintf(stderr, "cuda-trace profile: %s %s: %u functions are not disassembled\n",
			path, ends[asking->end], without);
	else
		fprintf(stderr, "cuda-trace profile: %s did not disassemble %u functions%s%s\n",
			path, without, *asking->said ? ": " : "",
			text__show(said, sizeof(said), asking->said, 100));
}

static void say_left_out(const struct asking *asking)
{
	if (asking->without_code)
		fprintf(stderr,
			"cuda-trace profile: no machine code of %u functions: it is in no file and "
			"was loaded before the tool attached, is beyond the limit, is larger than "
			"%u KiB, or the program had ended\n",
			asking->without_code, CUBIN_MAX_CODE >> 10);
	if (asking->left_out)
		fprintf(stderr,
			"cuda-trace profile: %u functions are not disassembled: they have fewer "
			"samples than %u others\n",
			asking->left_out, MAX_FUNCTIONS);
}

static void say_missing(const struct disassembly *all)
{
	char path[256];

	if (*all->program.path && getenv("CUDA_TRACE_NVDISASM"))
		fprintf(stderr, "cuda-trace profile: no disassembly: %s: %s\n",
			text__show(path, sizeof(path), all->program.path, 60),
			strerror(-all->trouble));
	else
		fprintf(stderr,
			"cuda-trace profile: no disassembly: there is no nvdisasm in PATH, "
			"CUDA_HOME or /usr/local/cuda\n"
			"  (CUDA_TRACE_NVDISASM=FILE names one; it comes with the CUDA toolkit)\n");
}

void disassembly__run(struct disassembly *all, const struct pc_images *images,
		      struct pc_table *table, bool wanted)
{
	struct asking *asking;

	if (all->trouble) {
		if (wanted)
			say_missing(all);
		return;
	}
	asking = calloc(1, sizeof(*asking));
	if (!asking)
		return;
	asking->all = all;
	asking->until_ms = monotonic__ms() + MAX_MS;
	find_wishes(asking, images, table, wanted);
	ask_all(asking);
	hand_out(asking, table);
	say_end(asking);
	if (wanted)
		say_left_out(asking);
	free(asking);
}

static int by_offset(const void *a, const void *b)
{
	uint64_t wanted = *(const uint64_t *)a;
	const struct disassembled_line *line = b;

	return wanted < line->offset ? -1 : wanted > line->offset;
}

const char *disassembled__at(const struct disassembled *code, uint64_t offset)
{
	const struct disassembled_line *line =
		bsearch(&offset, code->lines, code->count, sizeof(*line), by_offset);

	return line ? line->text : NULL;
}
