// SPDX-License-Identifier: BSD-2-Clause
// Prints the rules that eh_frame.c finds for the functions of an ELF file, one part after the
// other: `rules FILE`, lines of "ADDRESS CFA RBP RETURN" in the words of `readelf -wF`. Built by
// tests/symbols/unwind.bats.
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/foreign/foreign_job.h"
#include "cuda-trace/symbols/eh_frame.h"

static void print_place(int16_t offset)
{
	if (offset == UNWIND_KEPT)
		printf(" u");
	else if (offset == UNWIND_LOST)
		printf(" ?");
	else
		printf(" c%+d", offset);
}

static void print(uint64_t address, const struct unwind_row *row)
{
	static const char *const names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15", "rsp"};

	printf("%016" PRIx64, address);
	if (row->rule == UNWIND_OFFSET)
		printf(" %s%+d", names[row->base], row->cfa_offset);
	else
		printf(" %s", row->rule == UNWIND_NONE ? "none" : "other");
	print_place(row->saved[UNWIND_RBP]);
	print_place(row->return_offset);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct foreign_file file;
	struct unwind_range range = {0};

	if (argc != 2 || foreign_file__open_ours(&file, argv[1]))
		return 2;
	for (uint64_t at = 0; at != UINT64_MAX; at = range.end) {
		struct foreign_answer answer;
		const struct unwind_row *rows;
		int err = foreign_job__run(eh_frame__send, &file, &at, 5000, 4 << 20, &answer);

		if (err) {
			fprintf(stderr, "%s: %s\n", argv[1], strerror(-err));
			return 1;
		}
		memcpy(&range, answer.bytes, sizeof(range));
		rows = (const void *)(answer.bytes + sizeof(range));
		for (uint32_t i = 0; i < range.rows; i++)
			if (range.first + rows[i].start >= at)
				print(range.first + rows[i].start, &rows[i]);
		free(answer.bytes);
	}
	return 0;
}
