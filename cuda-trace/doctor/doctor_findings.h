/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the doctor found: gathered first, written at the end, verdict first, as text or JSON lines.
 * Texts may hold names from hostile trees and processes: they are escaped when they are written.
 */
#ifndef CUDA_TRACE_DOCTOR_DOCTOR_FINDINGS_H
#define CUDA_TRACE_DOCTOR_DOCTOR_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct json_object;
struct findings;

enum severity { FINDING_OK, FINDING_NOTE, FINDING_PROBLEM };

struct findings *findings__new(const char *subject);
void findings__free(struct findings *findings);
/* One line. `key` is stable, for programs; `fix` is the one command that fixes the problem, or
 * NULL. */
void findings__add(struct findings *findings, enum severity severity, const char *key,
		   const char *fix, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same, with members for the JSON object; takes the reference. */
void findings__add_facts(struct findings *findings, enum severity severity, const char *key,
			 const char *fix, struct json_object *facts, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
/* Lines to copy, printed as a block after the findings. */
void findings__advise(struct findings *findings, const char *title, const char *lines);
unsigned int findings__count(const struct findings *findings, enum severity severity);
void findings__write_text(const struct findings *findings, FILE *out);
void findings__write_json(const struct findings *findings, FILE *out);

/* A word that a shell reads as this very text; for the commands in `fix`. */
const char *shell_word(const char *text, char *out, size_t size);

#endif
