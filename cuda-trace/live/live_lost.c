// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/live/live_lost.h"

#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/losses.h"

uint32_t live_lost__list(const struct live_state *state, struct live_loss rows[LIVE_LOST_MAX])
{
	static const struct live_loss own[] = {
#define LIVE_LOST_ROW(name, key, text) {key, text, .in_total = true},
		LIVE_LOST_REASONS(LIVE_LOST_ROW)
#undef LIVE_LOST_ROW
	};
	uint32_t count = 0;

	for (int i = 0; i < LIVE_LOST_COUNT; i++) {
		rows[count] = own[i];
		rows[count++].count = state->aggregate_lost[i];
	}
	for (int i = 0; i < SESSION_LOST_COUNT; i++)
		if (losses__is_in_total(i))
			rows[count++] = (struct live_loss){
				losses__key(i), losses__text(i), state->lost.session[i], true,
				i == SESSION_LOST_UNOBSERVED || i == SESSION_LOST_LATE};
	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		rows[count++] = (struct live_loss){losses__agent_key(i), losses__agent_text(i),
						   state->lost.agent[i],
						   losses__agent_is_in_total(i), false};
	return count;
}

uint64_t live_lost__total(const struct live_state *state)
{
	struct live_loss rows[LIVE_LOST_MAX];
	uint32_t count = live_lost__list(state, rows);
	uint64_t total = 0;

	for (uint32_t i = 0; i < count; i++)
		if (rows[i].in_total)
			total += rows[i].count;
	return total;
}

void live_lost__keep(struct session_lost_counts *lost, struct session_lost_counts *most)
{
	for (int i = 0; i < SESSION_LOST_COUNT; i++) {
		if (most->session[i] < lost->session[i])
			most->session[i] = lost->session[i];
		lost->session[i] = most->session[i];
	}
}

void live_lost__say(FILE *file, const struct live_state *state, const struct session *session)
{
	struct live_loss rows[LIVE_LOST_MAX];
	uint32_t count = live_lost__list(state, rows);
	char number[32];

	session__say_unobserved(session, file);
	for (uint32_t i = 0; i < count; i++)
		if (rows[i].count)
			fprintf(file, "cuda-trace: lost %s (%s): %s\n",
				text__count(number, rows[i].count), rows[i].key, rows[i].text);
}
