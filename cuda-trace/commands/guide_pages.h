/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pages of docs/guide, which the tool carries inside: cuda-trace help TOPIC.
 */
#ifndef CUDA_TRACE_COMMANDS_GUIDE_PAGES_H
#define CUDA_TRACE_COMMANDS_GUIDE_PAGES_H

#include <stddef.h>
#include <stdio.h>

/* The name of topic `i`, in the order of the cookbook's table; NULL after the last one. */
const char *guide_pages__topic(size_t i);
/* All names, comma-separated, in lines of 76 characters after an indent of two. */
void guide_pages__list(FILE *file);
/* Shows the page, through a pager if stdout is a terminal. An exit status, or -ENOENT if there is
 * no such page. */
int guide_pages__show(const char *topic);

#endif
