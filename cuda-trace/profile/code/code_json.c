// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/code/code_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include "cuda-trace/base/demangle.h"
#include "cuda-trace/profile/code/code_lines.h"

void code_json__put_origin(struct sheet *sheet, const struct code_function *function)
{
	static const char *const keys[CODE_LINES_FROM_COUNT] = {
		[CODE_LINES_MODULE] = "module",
		[CODE_LINES_FILE] = "file",
		[CODE_LINES_BY_NAME] = "name",
	};
	const char *from = keys[function->lines_from];
	char cubin[24];

	snprintf(cubin, sizeof(cubin), "%" PRIx64, function->cubin);
	sheet__put(sheet, "cubin", cell_text(cubin));
	sheet__put(sheet, "lines_from", cell_text(from));
}

/* The functions that it is inlined in, from the innermost, and where each was called. */
static void put_inlined(struct sheet *sheet, const struct code_place *place)
{
	sheet__open(sheet, "inlined", '[');
	for (uint32_t i = 0; i + 1 < place->depth; i++) {
		const char *mangled = place->chain[i].function;
		char *pretty = mangled ? demangle(mangled) : NULL;

		sheet__open(sheet, NULL, '{');
		sheet__put(sheet, "function", cell_text(pretty ? pretty : mangled ? mangled : ""));
		sheet__put(sheet, "file", cell_text(place->chain[i + 1].file));
		sheet__put(sheet, "line", cell_number(place->chain[i + 1].line));
		sheet__close(sheet);
		free(pretty);
	}
	sheet__close(sheet);
}

void code_json__put_place(struct sheet *sheet, const struct code_place *place)
{
	if (!sheet->json)
		return;
	sheet__put(sheet, "offset", cell_number(place->offset));
	sheet__put(sheet, "file", cell_text(place->file));
	sheet__put(sheet, "line", cell_if(place->file, cell_number(place->line)));
	put_inlined(sheet, place);
}
