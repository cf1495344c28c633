// SPDX-License-Identifier: BSD-2-Clause
// The one subscriber that a process may have, and which callbacks it wants. Callbacks run on the
// program's threads without any lock; one that is under way is not waited for by unsubscribing.
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/simcuda/cupti/tracer.h"

#define CBIDS 1024

struct CUpti_Subscriber_st {
	_Atomic(CUpti_CallbackFunc) callback;
	_Atomic(void *) data;
};

static struct CUpti_Subscriber_st subscriber;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool taken, ever;
static _Atomic bool without_table;
static uint64_t attempts;
static char subscriber_name[64]; /* of who is subscribed, "" = it has none */
static _Atomic uint64_t wanted[CUPTI_DOMAIN_COUNT][CBIDS / 64];
static _Atomic uint32_t callbacks;
static _Atomic bool dead; /* after a fatal state CUPTI has finalised itself */

void sleep_ms(uint64_t ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

bool subscriber__present(void)
{
	return atomic_load(&subscriber.callback) != NULL;
}

int simcuptiIsSubscribed(void)
{
	return subscriber__present();
}

uint32_t subscriber__callbacks(void)
{
	return atomic_load(&callbacks);
}

bool subscriber__wants(int domain, uint32_t cbid)
{
	return cbid < CBIDS &&
	       atomic_load_explicit(&wanted[domain][cbid / 64], memory_order_relaxed) >> cbid % 64 &
		       1;
}

void subscriber__callback(int domain, uint32_t cbid, const void *data)
{
	CUpti_CallbackFunc callback = atomic_load(&subscriber.callback);

	if (callback)
		callback(atomic_load(&subscriber.data), domain, cbid, data);
}

/* The first subscription initialises CUPTI under a lock of the driver and starves behind launches.
 */
static void starve(struct simcuda_bridge *bridge)
{
	uint64_t ms = settings__get()->starve_ms;

	if (ms && !ever)
		bridge->wait_no_launch(ms);
}

bool subscriber__without_table(void)
{
	return atomic_load(&without_table);
}

/* As 13.0 does: somebody is subscribed, and the table of who wants what is not there yet. Later
 * ones find the one of before. */
static void get_table(void)
{
	if (!ever && settings__get()->table_ms) {
		atomic_store(&without_table, true);
		hooks__update();
		sleep_ms(settings__get()->table_ms);
		atomic_store(&without_table, false);
	}
	ever = true;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			     void *data)
{
	const struct settings *settings = settings__get();
	struct simcuda_bridge *bridge = bridge__get();
	CUptiResult result = CUPTI_SUCCESS;

	if (!handle || !callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!bridge || atomic_load(&dead))
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (settings->subscribe == FAULT_SLOW)
		sleep_ms(settings->subscribe_ms);
	while (settings->subscribe == FAULT_HANG)
		pause();
	pthread_mutex_lock(&lock);
	attempts++;
	if (settings->subscribe_error &&
	    (!settings->subscribe_errors || attempts <= settings->subscribe_errors))
		result = settings->subscribe_error;
	else if (taken || *settings->other_subscriber)
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS;
	else
		starve(bridge);
	if (!result) {
		get_table();
		taken = true;
		atomic_store(&subscriber.data, data);
		atomic_store(&subscriber.callback, callback);
		*handle = &subscriber;
	}
	pthread_mutex_unlock(&lock);
	hooks__start();
	state__log(result ? "subscribe_failed" : "subscribe");
	return result;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *data)
{
	CUptiResult result = subscribe(handle, callback, data);

	pthread_mutex_lock(&lock);
	if (!result)
		subscriber_name[0] = 0;
	pthread_mutex_unlock(&lock);
	return result;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			      void *data, CUpti_SubscriberParams *parameters)
{
	CUptiResult result;
	const char *other;

	if (parameters && parameters->structSize < sizeof(*parameters))
		return CUPTI_ERROR_INVALID_PARAMETER;
	result = subscribe(handle, callback, data);
	pthread_mutex_lock(&lock);
	if (!result && parameters && parameters->subscriberName) {
		strncpy(subscriber_name, parameters->subscriberName, sizeof(subscriber_name) - 1);
	} else if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS && parameters &&
		   parameters->oldSubscriberName && parameters->oldSubscriberSize) {
		other = settings__get()->other_subscriber;
		strncpy(parameters->oldSubscriberName, *other ? other : subscriber_name,
			parameters->oldSubscriberSize - 1);
		parameters->oldSubscriberName[parameters->oldSubscriberSize - 1] = 0;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static void forget_callbacks(void)
{
	for (int domain = 0; domain < CUPTI_DOMAIN_COUNT; domain++)
		for (int i = 0; i < CBIDS / 64; i++)
			atomic_store(&wanted[domain][i], 0);
	atomic_store(&callbacks, 0);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	CUptiResult result = CUPTI_SUCCESS;

	pthread_mutex_lock(&lock);
	if (handle != &subscriber || !taken) {
		result = CUPTI_ERROR_INVALID_PARAMETER;
	} else {
		forget_callbacks();
		atomic_store(&subscriber.callback, NULL);
		taken = false;
	}
	pthread_mutex_unlock(&lock);
	hooks__update();
	state__log(result ? "unsubscribe_failed" : "unsubscribe");
	return result;
}

/* Called with the lock held. */
static void set(int domain, uint32_t cbid, bool enable)
{
	uint64_t bit = 1ULL << cbid % 64;
	uint64_t before = enable ? atomic_fetch_or(&wanted[domain][cbid / 64], bit)
				 : atomic_fetch_and(&wanted[domain][cbid / 64], ~bit);

	if (enable && !(before & bit))
		atomic_fetch_add(&callbacks, 1);
	if (!enable && before & bit)
		atomic_fetch_sub(&callbacks, 1);
}

static CUptiResult enable_range(uint32_t enable, CUpti_SubscriberHandle handle, int domain,
				uint32_t first, uint32_t last)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (domain <= 0 || domain >= CUPTI_DOMAIN_COUNT || last >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	if (handle != &subscriber || !taken)
		result = CUPTI_ERROR_INVALID_PARAMETER;
	else
		for (uint32_t cbid = first; cbid <= last; cbid++)
			set(domain, cbid, enable);
	pthread_mutex_unlock(&lock);
	hooks__update();
	return result;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, int domain,
				uint32_t cbid)
{
	CUptiResult result = enable_range(enable, handle, domain, cbid, cbid);

	state__log(enable ? "enable_callback" : "disable_callback");
	return result;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle, int domain)
{
	CUptiResult result = enable_range(enable, handle, domain, 1, CBIDS - 1);

	state__log(enable ? "enable_domain" : "disable_domain");
	return result;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (int domain = 1; domain < CUPTI_DOMAIN_COUNT && !result; domain++)
		result = cuptiEnableDomain(enable, handle, domain);
	return result;
}

CUptiResult cuptiGetCallbackState(uint32_t *enabled, CUpti_SubscriberHandle handle, int domain,
				  uint32_t cbid)
{
	if (!enabled || domain <= 0 || domain >= CUPTI_DOMAIN_COUNT || handle != &subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enabled = subscriber__wants(domain, cbid);
	return CUPTI_SUCCESS;
}

/* CUPTI met an error that it cannot survive: it says so and finalises itself. */
void subscriber__fatal(void)
{
	CUpti_StateData data = {CUPTI_ERROR_UNKNOWN, "simulated fatal error"};

	if (atomic_exchange(&dead, true))
		return;
	if (subscriber__wants(CUPTI_DOMAIN_STATE, 1))
		subscriber__callback(CUPTI_DOMAIN_STATE, 1, &data);
	pthread_mutex_lock(&lock);
	forget_callbacks();
	pthread_mutex_unlock(&lock);
	activity__off();
	hooks__update();
	state__log("state_fatal");
}
