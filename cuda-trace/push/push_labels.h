/* SPDX-License-Identifier: BSD-2-Clause */
/* The labels of a profile: whose it is, and what the user adds. */
#ifndef CUDA_TRACE_PUSH_PUSH_LABELS_H
#define CUDA_TRACE_PUSH_PUSH_LABELS_H

#include "cuda-trace/push/push_profile.h"

#define PUSH_LABELS_MAX 48

struct push_label {
	const char *name, *value;
};

struct push_labels {
	struct push_label list[PUSH_LABELS_MAX];
	size_t count;
};

/* Labels of all profiles: "a=b,c=d" of --label, and the machine's name. Lives as long as the
 * program. */
struct push_common_labels {
	const char *service; /* NULL = the name of the container or program */
	struct push_label list[PUSH_LABELS_MAX / 2];
	size_t count;
	char host[128];
};

/* False: it is not of that form, or has too many; `text` may be NULL. */
bool push_labels__parse(struct push_common_labels *common, const char *text);
/* The texts belong to the source and to `common`. */
void push_labels__of(struct push_labels *labels, const struct push_common_labels *common,
		     const struct push_source *source);
/* What the receiver sorts profiles by. */
const char *push_labels__service(const struct push_common_labels *common,
				 const struct push_source *source);

#endif
