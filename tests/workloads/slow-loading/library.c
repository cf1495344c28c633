// SPDX-License-Identifier: BSD-2-Clause
// For LD_AUDIT: 150 ms pass from the mapping of libcuda until the loader reports it.
#include <link.h>
#include <string.h>
#include <time.h>

__attribute__((visibility("default"))) unsigned int la_version(unsigned int version)
{
	return version;
}

__attribute__((visibility("default"))) unsigned int la_objopen(struct link_map *map, Lmid_t list,
							       uintptr_t *cookie)
{
	const struct timespec pause = {.tv_nsec = 150000000};

	(void)list;
	(void)cookie;
	if (strstr(map->l_name, "/libcuda.so"))
		nanosleep(&pause, NULL);
	return 0;
}
