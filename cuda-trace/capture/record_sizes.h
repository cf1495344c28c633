/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks the lengths of what a process sends. */
#ifndef CUDA_TRACE_CAPTURE_RECORD_SIZES_H
#define CUDA_TRACE_CAPTURE_RECORD_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/event.h"

/* How many bytes this version reads of a kind (enum cuda_record_kind); 0 = no such kind. */
size_t record_sizes__known(uint16_t kind);
/* True if the lengths in the event match its own. */
bool record_sizes__are_of_stack(const struct event *event);
bool record_sizes__are_of_stack_copy(const struct event *event);
bool record_sizes__are_of_code(const struct event *event);

#endif
