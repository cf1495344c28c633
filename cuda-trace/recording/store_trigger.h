/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recording says of its trigger (--when): rows of META_DATA_CAPTURE. */
#ifndef CUDA_TRACE_RECORDING_STORE_TRIGGER_H
#define CUDA_TRACE_RECORDING_STORE_TRIGGER_H

#include "cuda-trace/recording/store_db.h"
#include "cuda-trace/recording/store_spool.h"

struct store_trigger {
	struct spool_trigger time;
	char *condition; /* with its text behind the NUL; NULL = there was none */
};

/* Of an entry of a spool; the last one counts. 0 or -errno. */
int store_trigger__read(struct store_trigger *trigger, const uint8_t *data, size_t size);
/* `zero`: ns, monotonic, the file's time 0. 0 or -errno. */
int store_trigger__put(const struct store_trigger *trigger, struct db *db, uint64_t zero);
void store_trigger__free(struct store_trigger *trigger);

#endif
