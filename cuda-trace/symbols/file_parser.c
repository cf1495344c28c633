// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/symbols/file_parser.h"

#include <errno.h>
#include <stdio.h>
#include "cuda-trace/base/clock.h"

#define MAX_MS	     5000
#define MAX_TOTAL_NS 30000000000

int file_parser__run(struct file_parser *parser, const struct foreign_file *file,
		     const void *argument, struct foreign_answer *answer)
{
	uint64_t before = monotonic__ns();
	int err;

	*answer = (struct foreign_answer){0};
	if (parser->spent >= MAX_TOTAL_NS) {
		if (!parser->complained)
			fprintf(stderr, "cuda-trace: %s\n", parser->too_late);
		parser->complained = true;
		return -ETIMEDOUT;
	}
	err = foreign_job__run(parser->job, file, argument, MAX_MS, parser->max_answer, answer);
	parser->spent += monotonic__ns() - before;
	return err;
}
