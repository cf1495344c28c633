// SPDX-License-Identifier: BSD-2-Clause
/*
 * Of machine code on standard input: where it fails, a line "OFFSET RESULT" each. With -l of lines
 * with the bytes of one instruction each: how many have another length than x86__decode() says, and
 * how many it knows.
 */
#include <stdio.h>
#include <string.h>
#include "cuda-trace/driver/driver_failures.h"
#include "cuda-trace/driver/x86_length.h"

static int compare_lengths(void)
{
	unsigned long wrong = 0, known = 0;
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		/* What follows must not matter. */
		uint8_t bytes[32], size = 0;
		struct x86_instruction instruction;
		unsigned int byte;
		int length;

		memset(bytes, 0x05, sizeof(bytes));
		for (char *at = line; size < 16 && sscanf(at, " %2x%n", &byte, &length) == 1;
		     at += length)
			bytes[size++] = byte;
		if (!size || !x86__decode(bytes, sizeof(bytes), &instruction))
			continue;
		known++;
		wrong += instruction.length != size;
		if (instruction.length != size)
			fprintf(stderr, "%u: %s", instruction.length, line);
	}
	printf("wrong %lu\nknown %lu\n", wrong, known);
	return 0;
}

int main(int argc, char **argv)
{
	static uint8_t code[4096];
	struct driver_failure found[DRIVER_FAILURES_MAX];
	uint32_t count;
	size_t size;

	if (argc > 1 && !strcmp(argv[1], "-l"))
		return compare_lengths();
	size = fread(code, 1, sizeof(code), stdin);
	count = driver_failures__find(code, size, found);
	for (uint32_t i = 0; i < count; i++)
		printf("%u %u\n", found[i].at, found[i].result);
	return 0;
}
