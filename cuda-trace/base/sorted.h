/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary search in what is sorted. No state. */
#ifndef CUDA_TRACE_BASE_SORTED_H
#define CUDA_TRACE_BASE_SORTED_H

#include <stddef.h>

/*
 * Of `count` elements, those come first of which is_before is true: how many they are. That is the
 * index of the first of which it is not, or count. is_before: an expression in which `i` is an
 * element's index.
 */
#define sorted__count_before(count, i, is_before)             \
	({                                                    \
		size_t low_ = 0, high_ = (count);             \
                                                              \
		while (low_ < high_) {                        \
			size_t i = low_ + (high_ - low_) / 2; \
                                                              \
			if (is_before)                        \
				low_ = i + 1;                 \
			else                                  \
				high_ = i;                    \
		}                                             \
		low_;                                         \
	})

#endif
