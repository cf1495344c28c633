// SPDX-License-Identifier: BSD-2-Clause
/* Launches are counted by thread for a second at a time; the busiest thread decides. */
#include "cuda-trace/capture/stack_rate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "libcupti-usdt/stack_probes.h"

#define NS_PER_S 1000000000ull
#define THREADS	 1024 /* further ones share places: that makes them look busier, not idler */

struct stack_pace {
	double share;
	uint64_t began; /* of the second that is being counted */
	uint32_t period;
	bool chosen;
	uint32_t launches[THREADS];
};

uint32_t stack_rate__parse(const char *text)
{
#define PERIOD(probe, period)       \
	if (!strcmp(text, #period)) \
		return period;
	CUDA_STACK_PROBES(PERIOD)
#undef PERIOD
	return *text ? 0 : 1;
}

struct stack_pace *stack_rate__new(double percent)
{
	struct stack_pace *pace = calloc(1, sizeof(*pace));

	if (pace) {
		pace->share = percent / 100;
		pace->period = STACK_PACE_FIRST;
	}
	return pace;
}

void stack_rate__launch(struct stack_pace *pace, uint32_t pid, uint32_t tid)
{
	pace->launches[((pid ^ (uint64_t)tid << 20) * 0x9e3779b97f4a7c15ull >> 32) % THREADS]++;
}

/* Launches of the thread with the most; counting begins again. */
static uint32_t reset_busiest(struct stack_pace *pace)
{
	uint32_t most = 0;

	for (int i = 0; i < THREADS; i++)
		if (pace->launches[i] > most)
			most = pace->launches[i];
	memset(pace->launches, 0, sizeof(pace->launches));
	return most;
}

/* The smallest one that is allowed; if none is, the largest. */
static uint32_t least_period(const struct stack_pace *pace, double launches_ns)
{
	uint32_t largest = 0;

#define ALLOWED(probe, period)                              \
	largest = period;                                   \
	if (launches_ns / period <= pace->share * NS_PER_S) \
		return period;
	CUDA_STACK_PROBES(ALLOWED)
#undef ALLOWED
	return largest;
}

uint32_t stack_rate__period(struct stack_pace *pace, uint64_t now_ns, uint64_t cost_ns)
{
	uint64_t passed = now_ns - pace->began;
	uint32_t launches, wanted;

	if (passed < NS_PER_S)
		return pace->period;
	launches = reset_busiest(pace);
	/* The first time there is no beginning; and without launches nothing can be reported. */
	if (pace->began && launches && cost_ns) {
		wanted = least_period(pace, (double)launches * cost_ns * NS_PER_S / passed);
		if (!pace->chosen || wanted > pace->period)
			pace->period = wanted;
		pace->chosen = true;
	}
	pace->began = now_ns;
	return pace->period;
}

void stack_rate__free(struct stack_pace *pace)
{
	free(pace);
}
