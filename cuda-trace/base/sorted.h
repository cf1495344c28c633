/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary search in what is sorted. No state. */
#ifndef CUDA_TRACE_BASE_SORTED_H
#define CUDA_TRACE_BASE_SORTED_H

#include <stddef.h>

/*
 * The number of elements, of `count`, for which is_before is true: the index of the first for which
 * it is false, or count. They are sorted, so that those for which it is true come first. is_before:
 * an expression in which `i` is an element's index.
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
