/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays that grow. `array` is a pointer to elements, `capacity` how many fit: variables or members
 * of any integer type, which are 0 at first and change together. The capacity is a power of two,
 * so an array that is limited to one takes no more. All are false when out of memory; then the
 * array is as before.
 */
#ifndef CUDA_TRACE_BASE_ARRAY_GROW_H
#define CUDA_TRACE_BASE_ARRAY_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of elements; twice as many still fit into an int. */
#define ARRAY_GROW_MAX (INT32_MAX / 2)

/* Makes `needed` elements fit. */
#define array_grow__to(array, capacity, needed) ARRAY_GROW(array_grow__fit, array, capacity, needed)

/* Makes one more fit after the `count` that there are. */
#define array_grow__for_one(array, capacity, count) \
	array_grow__to(array, capacity, (size_t)(count) + 1)

/* Makes `needed` elements fit; the new ones are zero. */
#define array_grow__zeroed(array, capacity, needed) \
	ARRAY_GROW(array_grow__fit_zeroed, array, capacity, needed)

/* Makes one more fit after the `count` that there are, without a capacity: that is the next power
 * of two. For arrays that are seldom emptied, since each filling allocates again. */
#define array_grow__counted(array, count)                                                 \
	({                                                                                \
		void *array_ = (array);                                                   \
		bool fits_ = array_grow__fit_counted(&array_, (count), sizeof(*(array))); \
                                                                                          \
		(array) = array_;                                                         \
		fits_;                                                                    \
	})

#define ARRAY_GROW(fit, array, capacity, needed)                                     \
	({                                                                           \
		size_t capacity_ = (capacity), needed_ = (needed);                   \
		bool fits_ = needed_ <= capacity_;                                   \
                                                                                     \
		if (!fits_) {                                                        \
			void *array_ = (array);                                      \
                                                                                     \
			fits_ = fit(&array_, &capacity_, needed_, sizeof(*(array))); \
			(array) = array_;                                            \
			(capacity) = capacity_;                                      \
		}                                                                    \
		fits_;                                                               \
	})

/* What these use. */
bool array_grow__fit(void **array, size_t *capacity, size_t needed, size_t size);
bool array_grow__fit_zeroed(void **array, size_t *capacity, size_t needed, size_t size);
bool array_grow__fit_counted(void **array, size_t count, size_t size);

#endif
