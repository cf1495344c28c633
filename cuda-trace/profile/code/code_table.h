/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of a GPU's code and instructions in them: what the tables of samples (pc_table.h) and
 * of counts (sass_table.h) have in common, and where their lines of source come from.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_CODE_TABLE_H
#define CUDA_TRACE_PROFILE_CODE_CODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CODE_NONE UINT32_MAX

struct interned;
struct pc_line;
struct process;

/* Where the lines of a function are from. */
enum code_lines_from {
	CODE_LINES_UNKNOWN,
	CODE_LINES_MODULE,  /* its module, as the program loaded it */
	CODE_LINES_FILE,    /* a file that the program has mapped, by the image's checksum */
	CODE_LINES_BY_NAME, /* likewise, by the function's name */
	CODE_LINES_FROM_COUNT
};

struct code_function {
	const char *name;   /* demangled, untrusted; valid as long as the table */
	const char *symbol; /* mangled, likewise; NULL = unknown */
	uint64_t cubin;	    /* checksum of its image */
	enum code_lines_from lines_from;
};

struct code_place {
	uint32_t function; /* index */
	uint32_t line;	   /* 0 = unknown */
	uint64_t offset;   /* of the instruction, in its function */
	const char *file;  /* untrusted; NULL = unknown */
	/* Through which inlined functions, if that is known: see pc_lines.h. */
	const struct pc_line *chain;
	uint32_t depth;
};

/* Functions that begin with a struct code_function each, and instructions that begin with a struct
 * code_place. The image's checksum and the name identify a function, function and offset an
 * instruction. Bounded: what comes is the traced programs' to choose. */
struct code_table {
	void *functions, *instructions;
	uint32_t function_count, instruction_count;
	/* The rest is code_table.c's own. */
	size_t function_size, instruction_size;
	uint32_t function_capacity, instruction_capacity;
	struct interned *function_names, *instruction_keys, *files;
};

/* A member `code`, and its arrays with their types. */
#define CODE_TABLE(function_type, instruction_type)                 \
	union {                                                     \
		struct code_table code;                             \
		struct {                                            \
			function_type *functions;                   \
			instruction_type *instructions;             \
			uint32_t function_count, instruction_count; \
		};                                                  \
	}

int code_table__init(struct code_table *table, size_t function_size, size_t instruction_size,
		     uint32_t most_instructions, size_t most_bytes);
void code_table__free(struct code_table *table);
/* Index of the function, whose name is demangled, and its symbol that of `id`; CODE_NONE = the
 * table is full. */
uint32_t code_table__add_function(struct code_table *table, const struct process *process,
				  const char *name, uint32_t id, uint64_t cubin);
/* Likewise of an instruction; `file`: id of a name, 0 = unknown. */
uint32_t code_table__add_place(struct code_table *table, const struct process *process,
			       uint32_t function, uint64_t offset, uint32_t file, uint32_t line);
struct code_function *code_table__function(const struct code_table *table, uint32_t i);
struct code_place *code_table__place(const struct code_table *table, uint32_t i);
/* By an order of pointers to them. Instructions name their function by its place, so that goes
 * along. */
void code_table__sort_functions(const struct code_table *table,
				int (*compare)(const void *a, const void *b));
/* What a reader of the text must know of lines that are not CUPTI's. */
void code_table__say_lines_from(FILE *file, const struct code_table *table);

bool code_place__is_same_line(const struct code_place *a, const struct code_place *b);
/* "saxpy.cu:12  +0x70", or "+0x70" alone, behind `lead`; untrusted. Returns text. */
const char *code_place__name(const struct code_place *place, const char *lead, char *text,
			     size_t size);

#endif
