// SPDX-License-Identifier: BSD-2-Clause
/* Boyer and Moore's majority vote, weighted by time. Used by idle_gaps.c. */
#include "cuda-trace/idle/idle_recent.h"

#define LEAD_MAX 3000000000ull /* so that another place comes to lead within seconds */

void idle_recent__add(struct idle_recent *recent, const struct idle_place *place, uint64_t ns)
{
	if (recent->ns && idle_place__is(&recent->place, place)) {
		recent->ns += ns;
	} else if (ns > recent->ns) {
		recent->place = *place;
		recent->ns = ns - recent->ns;
	} else {
		recent->ns -= ns;
	}
	if (recent->ns > LEAD_MAX)
		recent->ns = LEAD_MAX;
}
