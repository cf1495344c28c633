// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways to go wrong:
 * 1. The ring drops its oldest events while the time after the trigger passes: from the trigger on,
 *    as much more is kept, and a block more, as blocks are dropped by their beginning.
 * 2. A step is longer than what is kept: its beginning is missing, and the message says so.
 * 3. The program ends, or Ctrl-C comes, before the time after the trigger is over: the file is
 *    written at once.
 */
#include "cuda-trace/trigger/trigger_recording.h"

#include <stdio.h>
#include "cuda-trace/base/clock.h"
#include "cuda-trace/base/text.h"
#include "cuda-trace/capture/losses.h"
#include "cuda-trace/cli/start_time.h"

#define BLOCK_NS 250000000 /* the longest that a block of the spool waits for events */

bool trigger_recording__start(struct trigger_recording *recording, uint64_t last, uint64_t after)
{
	if (!recording->wanted.count)
		return true;
	recording->last = last ? last : TRIGGER_LAST_NS;
	recording->after = after ? after : TRIGGER_AFTER_NS;
	recording->trigger = trigger__new(&recording->wanted);
	return recording->trigger;
}

static void say(const struct trigger_recording *recording, const struct trigger_fired *fired)
{
	char when[32], kept[16];

	start_time__local(when, sizeof(when), fired->utc, realtime__ns());
	fprintf(stderr, "cuda-trace record: %s.%03u: %s (--when '%s')\n", when,
		(unsigned int)(fired->utc / 1000000 % 1000), fired->text, fired->condition);
	if (fired->step_ns > recording->last)
		fprintf(stderr,
			"cuda-trace record: that is longer than what is kept before it (%s, "
			"--last): its beginning is missing\n",
			text__ns(kept, recording->last));
}

static void put(struct store *store, const struct trigger_fired *fired)
{
	const struct spool_trigger stored = {fired->monotonic, fired->utc};
	char texts[sizeof(fired->text) + sizeof(((struct trigger_condition *)0)->text)];
	int size = snprintf(texts, sizeof(texts), "%s%c%s", fired->condition, 0, fired->text);

	store__put(store, SPOOL_TRIGGER, &stored, sizeof(stored), texts, size + 1);
}

bool trigger_recording__watch(struct trigger_recording *recording, struct store *store,
			      uint64_t lost)
{
	uint64_t now = monotonic__ns();
	const struct trigger_fired *fired;

	trigger__tick(recording->trigger, lost);
	fired = trigger__fired(recording->trigger);
	if (fired && !recording->until) {
		recording->until = now + recording->after;
		say(recording, fired);
	}
	if (fired)
		store__keep(store, recording->last + now - fired->monotonic + BLOCK_NS);
	if (fired && fired->version != recording->said)
		put(store, fired);
	if (fired)
		recording->said = fired->version;
	return fired && now >= recording->until;
}

bool trigger_recording__fired(const struct trigger_recording *recording,
			      const struct session_lost_counts *lost)
{
	char conditions[512], why[768];

	if (!recording->trigger || trigger__fired(recording->trigger))
		return true;
	fprintf(stderr, "cuda-trace record: --when '%s' never became true%s: no file is written\n",
		trigger_options__describe(&recording->wanted, conditions, sizeof(conditions)),
		trigger__why_not(recording->trigger, why, sizeof(why)));
	/* What was lost may have been it. */
	if (losses__any(lost))
		losses__say(stderr, lost);
	return false;
}
