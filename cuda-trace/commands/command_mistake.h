/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to a first word that is no command, and to a topic without a page.
 */
#ifndef CUDA_TRACE_COMMANDS_COMMAND_MISTAKE_H
#define CUDA_TRACE_COMMANDS_COMMAND_MISTAKE_H

#include "cuda-trace/base/suggest.h"

/* `words` begin with that word; `nearest` were chosen from the commands. Returns EXIT_USAGE. */
int command_mistake__explain(char **words, const struct nearest_words *nearest);
/* The same for the word behind `help`, of which `nearest` were chosen from pages, too. */
int command_mistake__explain_topic(const char *topic, const struct nearest_words *nearest);

#endif
