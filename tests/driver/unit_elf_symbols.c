// SPDX-License-Identifier: BSD-2-Clause
/*
 * elf_symbols.h: unit LIBRARY FUNCTION... prints how far behind a function's first instruction a
 * probe on its entry belongs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include "cuda-trace/driver/elf_symbols.h"
#include "cuda-trace/foreign/foreign_file.h"

int main(int argc, char **argv)
{
	struct elf_symbol symbols[ELF_SYMBOLS_MAX] = {};
	struct foreign_file file;
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);

	for (int i = 2; i < argc; i++)
		symbols[i - 2].name = argv[i];
	if (foreign_file__of(&file, fd) || elf_symbols__find(&file, symbols, argc - 2))
		abort();
	for (int i = 0; i < argc - 2; i++) {
		if (symbols[i].offset)
			printf("%s: %d\n", symbols[i].name,
			       (int)(symbols[i].probe - symbols[i].offset));
		else
			printf("%s: not there\n", symbols[i].name);
	}
	foreign_file__close(&file);
	return 0;
}
