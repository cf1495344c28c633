/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where NCCL's struct ncclComm keeps the rank, which no header says and each version changes. The
 * exported ncclCommUserRank(), ncclCommCount() and ncclCommCuDevice() each return one of its
 *fields, and these lie side by side, behind the communicator's hash (NCCL 2.18 to 2.30):
 *
 *	uint64_t commHash; int rank; int nRanks; int cudaDev;
 *
 * So the rank's offset is the one number in the code of the first function that is in the second
 * one's increased by 4, and in the third one's by 8. x86-64 only: elsewhere instructions hold an
 * offset in parts.
 */
#ifndef CUDA_TRACE_DRIVER_NCCL_LAYOUT_H
#define CUDA_TRACE_DRIVER_NCCL_LAYOUT_H

#include <stdint.h>
#include "cuda-trace/driver/elf_symbols.h"

struct foreign_file;
struct foreign_output;

#define NCCL_ACCESSORS 3 /* ncclCommUserRank, ncclCommCount, ncclCommCuDevice */

/* Bytes from a communicator's address to its rank; 0 = not known: a symbol is missing, no number
 * fits, or several do. The file may be hostile. */
uint32_t nccl_layout__rank_at(const struct foreign_file *file,
			      const struct elf_symbol accessors[NCCL_ACCESSORS]);

/* What runs in a process without rights, for tests: a job of foreign_job.h, whose argument is the
 * accessors. Its answer is the offset, 4 bytes. */
int nccl_layout__send(int fd, uint64_t size, const void *accessors, struct foreign_output *output);

#endif
