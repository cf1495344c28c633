/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names in a file by id, read once, clean: what exports write for strings and processes.
 */
#ifndef CUDA_TRACE_EXPORT_EXPORT_NAMES_H
#define CUDA_TRACE_EXPORT_EXPORT_NAMES_H

#include <stddef.h>
#include "cuda-trace/report/report_file.h"

struct names_of_file;

int export_names__open(struct names_of_file **names, const struct report_file *file);
/* Valid as long as the names; never NULL. */
const char *export_names__string(const struct names_of_file *names, int64_t id);
/* "python3 (4711)", of a globalPid or globalTid. */
const char *export_names__process(struct names_of_file *names, int64_t global);
/* Its place in the order of processes, from 0. */
size_t export_names__process_index(struct names_of_file *names, int64_t global);
size_t export_names__process_count(const struct names_of_file *names);
/* globalPid of the n-th. */
int64_t export_names__process_at(const struct names_of_file *names, size_t n);
/* Its command name alone. */
const char *export_names__command(struct names_of_file *names, int64_t global);
void export_names__close(struct names_of_file *names);

#endif
