// SPDX-License-Identifier: BSD-2-Clause
/*
 * The agent's counters and its status. What a probe passes by address is written
 * first: a tracer reads without faulting pages in, and a string constant may not be resident.
 */
#include "libcupti-usdt/emit/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libcupti-usdt/base/clock.h"
#include "libcupti-usdt/base/memory.h"
#include "libcupti-usdt/emit/sample_windows.h"
#include "libcupti-usdt/base/settings.h"
#include "libcupti-usdt/emit/probe_sites.h"

static struct cuda_status status;
static _Atomic(uint64_t) emitted[CUDA_GROUP_COUNT];
static _Atomic(uint64_t) lost[CUDA_LOST_COUNT];
static uint64_t lost_sent[CUDA_LOST_COUNT];
static atomic_bool busy;
static atomic_flag message_busy = ATOMIC_FLAG_INIT;

void status__open(void)
{
	status.version = CUDA_PROBES_VERSION;
	status.size = sizeof(status);
	status.pid = getpid();
	/* Unique among the processes of a machine and the loads in one: time, made odd by the pid.
	 */
	status.instance = clock__now() * 2654435761U ^ (uint64_t)status.pid << 40;
	sample_windows__prepare(status.instance);
}

uint64_t status__instance(void)
{
	return status.instance;
}

uint64_t status__emitted(unsigned int group, uint32_t count)
{
	return atomic_fetch_add_explicit(&emitted[group], count, memory_order_relaxed);
}

uint64_t status__emitted_total(unsigned int group)
{
	return atomic_load_explicit(&emitted[group], memory_order_relaxed);
}

void status__lost(enum cuda_lost_reason reason, uint64_t count)
{
	atomic_fetch_add_explicit(&lost[reason], count, memory_order_relaxed);
}

static void note_yield(bool yields)
{
	if (yields && !status.yielded_since) {
		status.yielded_since = clock__now();
		status.yields++;
	} else if (!yields && status.yielded_since) {
		status.yielded_ns += clock__now() - status.yielded_since;
		status.yielded_since = 0;
	}
}

void status__set_state(enum cuda_state state, enum cuda_inert_reason reason)
{
	note_yield(state == CUDA_STATE_YIELDED);
	status.state = state;
	status.reason = reason;
}

void status__end(void)
{
	status.state = CUDA_STATE_ENDED;
}

enum cuda_state status__state(void)
{
	return status.state;
}

void status__set_busy(bool on)
{
	atomic_store(&busy, on);
}

bool status__is_busy(void)
{
	return atomic_load(&busy);
}

void status__set_groups(uint32_t groups)
{
	status.groups = groups;
}

void status__set_cupti(uint32_t version, const char *path)
{
	status.cupti_version = version;
	snprintf(status.cupti_path, sizeof(status.cupti_path), "%s", path);
}

void status__set_driver(uint32_t version)
{
	status.driver_version = version;
}

void status__set_primed(uint32_t microseconds)
{
	status.prime_us = microseconds ? microseconds : 1;
}

void status__set_holder(const char *holder)
{
	snprintf(status.holder, sizeof(status.holder), "%s", holder);
}

void status__count_activation(void)
{
	status.activations++;
}

bool status__is_initialised(void)
{
	return status.prime_us || status.activations;
}

bool status__begin_first(void)
{
	if (status__is_initialised())
		return false;
	status.subscribing = clock__now();
	status__send();
	return true;
}

void status__end_first(void)
{
	status.subscribing = 0;
}

void status__set_request(uint64_t address)
{
	status.request = address;
}

void status__set_ledger(uint64_t address)
{
	status.ledger = address;
}

void status__set_interpreter(uint64_t address)
{
	status.interpreter = address;
}

void status__set_switched(uint32_t microseconds)
{
	status.switch_us = microseconds;
}

void status__set_began(uint64_t ns)
{
	status.began = ns;
}

void status__set_flushed(uint64_t ns)
{
	status.flushed = ns;
}

void status__searched(const char *path, const char *outcome)
{
	size_t used = strlen(status.search);

	snprintf(status.search + used, sizeof(status.search) - used, "%s: %s\n", path, outcome);
}

static void say(const char *component, const char *message)
{
	char line[256];
	int length = snprintf(line, sizeof(line), "libcupti-usdt[%d]: %s: %s\n", getpid(),
			      component, message);

	if (length > 0 && write(STDERR_FILENO, line,
				(size_t)length < sizeof(line) ? (size_t)length : sizeof(line)) < 0)
		return;
}

void status__trouble(int code, const char *component, const char *format, ...)
{
	char message[sizeof(status.message)], part[32];
	int saved = errno;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	snprintf(part, sizeof(part), "%s", component);

	/* Two troubles at once: one of them is remembered, both are sent. */
	if (!atomic_flag_test_and_set(&message_busy)) {
		memcpy(status.message, message, sizeof(message));
		atomic_flag_clear(&message_busy);
	}
	if (site_wanted(error))
		probe_sites__error(code, part, message, status.instance);
	if (settings__get()->debug)
		say(part, message);
	errno = saved;
}

void status__send(void)
{
	if (!site_wanted(status))
		return;
	status.time = clock__now();
	/* No system call where one may kill the program. */
	if (status.reason != CUDA_INERT_SANDBOXED)
		status.resident_kib = memory__resident_kib();
	sample_windows__tell(&status);
	for (int i = 0; i < CUDA_GROUP_COUNT; i++)
		status.emitted[i] = status__emitted_total(i);
	for (int i = 0; i < CUDA_LOST_COUNT; i++)
		status.lost[i] = atomic_load_explicit(&lost[i], memory_order_relaxed);
	probe_sites__status(&status, sizeof(status));
}

void status__send_lost(void)
{
	for (uint32_t i = 0; i < CUDA_LOST_COUNT; i++) {
		uint64_t total = atomic_load_explicit(&lost[i], memory_order_relaxed);

		if (total == lost_sent[i] || !site_wanted(lost))
			continue;
		probe_sites__lost(i, total - lost_sent[i], total, status.instance);
		lost_sent[i] = total;
	}
}
