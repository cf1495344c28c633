/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of functions and instructions that mean the same in `profile --pc` and `--sass --json`.
 */
#ifndef CUDA_TRACE_PROFILE_CODE_CODE_JSON_H
#define CUDA_TRACE_PROFILE_CODE_CODE_JSON_H

#include "cuda-trace/cli/sheet.h"
#include "cuda-trace/profile/code/code_table.h"

/* cubin, lines_from */
void code_json__put_origin(struct sheet *sheet, const struct code_function *function);
/* offset, file, line, inlined */
void code_json__put_place(struct sheet *sheet, const struct code_place *place);

#endif
