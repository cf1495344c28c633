// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/base/number_text.h"

#include <stdio.h>
#include <stdlib.h>

const char *number__shortest(char out[NUMBER_TEXT_SIZE], double number)
{
	/* 15 digits are always kept by a double, 17 always tell it from its neighbours. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, NUMBER_TEXT_SIZE, "%.*g", digits, number);
		if (strtod(out, NULL) == number)
			break;
	}
	return out;
}
