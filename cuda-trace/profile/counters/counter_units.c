// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/profile/counters/counter_units.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *cupti;
	double factor;
	const char *text;
} known[] = {
	{"byte", 1, "B"},	 {"byte/second", 1, "B/s"}, {"byte/s", 1, "B/s"},
	{"byte/ns", 1e9, "B/s"}, {"second", 1, "s"},	    {"ns", 1e-9, "s"},
	{"nsecond", 1e-9, "s"},	 {"FLOP/s", 1, "FLOP/s"},   {"OP/s", 1, "OP/s"},
};

/* "gpc_cycle/second": the clock of a part of the GPU. */
static int is_clock(const char *cupti)
{
	const char *end = strstr(cupti, "cycle/");

	return end && (!strcmp(end, "cycle/second") || !strcmp(end, "cycle/s"));
}

void counter_unit__choose(struct counter_unit *unit, const char *cupti, double value)
{
	static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
	const char *text = is_clock(cupti) ? "Hz" : NULL;
	int step = 3;

	unit->factor = 1;
	for (size_t i = 0; !text && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(cupti, known[i].cupti)) {
			unit->factor = known[i].factor;
			text = known[i].text;
		}
	value = fabs(value * unit->factor);
	/* Ratios and percentages are as they are, and small counts. */
	if (isfinite(value) && (text || (value >= 99999 && strcmp(cupti, "%")))) {
		for (; value >= 999.5 && step < 9; step++, value /= 1000)
			unit->factor /= 1000;
		for (; text && *text == 's' && value > 0 && value < 1 && step;
		     step--, value *= 1000)
			unit->factor *= 1000;
	}
	snprintf(unit->text, sizeof(unit->text), "%s%s%.70s", prefixes[step],
		 !text && step != 3 ? " " : "", text ? text : cupti);
}
