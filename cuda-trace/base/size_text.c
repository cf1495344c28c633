// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/size_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

uint64_t size_text__parse(const char *text)
{
	static const char units[] = "kmgt";
	char *end;
	double number = strtod(text, &end);
	const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;

	if (end == text || !(number > 0) || number > 1e15)
		return 0;
	if (*end && (!unit || (end[1] && strcasecmp(end + 1, "iB") && strcasecmp(end + 1, "B"))))
		return 0;
	for (int i = 0; unit && i <= unit - units; i++)
		number *= 1024;
	return number;
}
