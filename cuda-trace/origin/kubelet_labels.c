// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/origin/engines.h"

#include <string.h>

void kubelet_labels__set(struct origin *origin, const char *key, const char *value)
{
	static const struct {
		const char *key;
		int number;
	} labels[] = {
		{"io.kubernetes.pod.namespace", ORIGIN_k8s_namespace},
		{"io.kubernetes.pod.name", ORIGIN_k8s_pod},
		{"io.kubernetes.container.name", ORIGIN_k8s_container},
	};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (!strcmp(key, labels[i].key))
			origin__set(origin, labels[i].number, value, strlen(value));
}
