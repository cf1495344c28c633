/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as decimal text that reads back as the same number, as short as that allows. */
#ifndef CUDA_TRACE_BASE_NUMBER_TEXT_H
#define CUDA_TRACE_BASE_NUMBER_TEXT_H

#define NUMBER_TEXT_SIZE 32

/* "8.811573", never "8.8115729999999992"; returns out. Infinities are not JSON: the caller's. */
const char *number__shortest(char out[NUMBER_TEXT_SIZE], double number);

#endif
