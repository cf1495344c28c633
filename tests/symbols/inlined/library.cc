// SPDX-License-Identifier: BSD-2-Clause
// The same in C++: methods, templates and lambdas, whose names are in declarations elsewhere.
#include "inlined.h"

#define NOINLINE __attribute__((noinline))
#define INLINE	 inline __attribute__((always_inline))

namespace outer
{
namespace
{
template <typename T> struct box {
	T value;

	INLINE T inlined_method(int64_t (*call)(void)) const
	{
		return value + call();
	}
};

template <typename F> INLINE int64_t inlined_template(F function)
{
	return function() * 7;
}
}

NOINLINE int64_t library_inner(int64_t (*call)(void), const int64_t *values)
{
	box<int64_t> box = {values[1]};

	return inlined_template([&] { return box.inlined_method(call) + values[3]; }) + values[2];
}
}

extern "C" int64_t library_outer(int64_t (*call)(void), const int64_t *values)
{
	return outer::library_inner(call, values) + values[5];
}
