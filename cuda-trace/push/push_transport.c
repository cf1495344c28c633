// SPDX-License-Identifier: BSD-2-Clause
/*
 * Redirections are not followed: a token is for the receiver that the user named.
 */
#include "cuda-trace/push/push_transport.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/base/text.h"
#include "cuda-trace/push/push_curl.h"
#include "cuda-trace/push/push_secrets.h"

#define CONNECT_MS 10000

struct push_transport {
	struct push_curl curl;
	struct push_transport_options options;
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	char *url;
	bool active;
	char error[CURL_ERROR_SIZE];
	size_t size;
	uint8_t body[PUSH_ANSWER_MAX];
};

/* The rest of a long answer is read and dropped. */
static size_t keep_answer(char *data, size_t one, size_t size, void *context)
{
	struct push_transport *transport = context;
	size_t left = sizeof(transport->body) - transport->size;
	size_t kept = size < left ? size : left;

	memcpy(transport->body + transport->size, data, kept);
	transport->size += kept;
	return size;
}

#define SET(option, value) curl->easy_setopt(transport->easy, CURLOPT_##option, value)

static void set_options(struct push_transport *transport)
{
	struct push_curl *curl = &transport->curl;

	SET(NOSIGNAL, 1L);
	SET(ERRORBUFFER, transport->error);
	SET(WRITEFUNCTION, keep_answer);
	SET(WRITEDATA, transport);
	SET(FOLLOWLOCATION, 0L);
	SET(CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	SET(TIMEOUT_MS, (long)transport->options.timeout_ms);
	SET(USERAGENT, "cuda-trace/" VERSION);
	SET(TCP_KEEPALIVE, 1L);
	if (transport->options.ca_file)
		SET(CAINFO, transport->options.ca_file);
}

struct push_transport *push_transport__open(const struct push_transport_options *options)
{
	struct push_transport *transport = calloc(1, sizeof(*transport));

	if (!transport)
		return NULL;
	transport->options = *options;
	if (!push_curl__load(&transport->curl)) {
		free(transport);
		return NULL;
	}
	transport->easy = transport->curl.easy_init();
	transport->multi = transport->curl.multi_init();
	if (transport->easy && transport->multi) {
		set_options(transport);
		return transport;
	}
	push_transport__close(transport);
	fprintf(stderr, "cuda-trace push: libcurl has no memory\n");
	return NULL;
}

static bool add_header(void *context, const char *line)
{
	struct push_transport *transport = context;
	struct curl_slist *longer = transport->curl.slist_append(transport->headers, line);

	if (longer)
		transport->headers = longer;
	return longer != NULL;
}

static bool add_headers(struct push_transport *transport, const struct push_item *item,
			char error[256])
{
	const struct push_transport_options *options = &transport->options;
	char type[256];

	snprintf(type, sizeof(type), "Content-Type: %s", item->type);
	/* Without "Expect:" libcurl would wait for a second before it sends a large body. */
	return add_header(transport, type) && add_header(transport, "Expect:") &&
	       (!item->zipped || add_header(transport, "Content-Encoding: gzip")) &&
	       push_secrets__token(options->token_file, add_header, transport, error) &&
	       push_secrets__headers(options->header, add_header, transport, error);
}

static void forget_request(struct push_transport *transport)
{
	transport->curl.slist_free_all(transport->headers);
	transport->headers = NULL;
	free(transport->url);
	transport->url = NULL;
	transport->active = false;
}

bool push_transport__start(struct push_transport *transport, const struct push_item *item,
			   struct push_answer *answer)
{
	struct push_curl *curl = &transport->curl;

	memset(answer, 0, sizeof(*answer));
	transport->size = 0;
	*transport->error = 0;
	if (asprintf(&transport->url, "%s%s", transport->options.url, item->target) < 0)
		transport->url = NULL;
	if (!transport->url || !add_headers(transport, item, answer->error)) {
		if (!*answer->error)
			snprintf(answer->error, sizeof(answer->error), "no memory");
		forget_request(transport);
		return false;
	}
	SET(URL, transport->url);
	SET(HTTPHEADER, transport->headers);
	SET(POSTFIELDSIZE_LARGE, (curl_off_t)item->size);
	SET(POSTFIELDS, (const char *)item->body);
	transport->active = !curl->multi_add_handle(transport->multi, transport->easy);
	if (transport->active)
		return true;
	snprintf(answer->error, sizeof(answer->error), "libcurl refuses the request");
	forget_request(transport);
	return false;
}

/* How the receiver's answer begins may say what is wrong; it is not ours, and may be anything. */
static void describe(struct push_transport *transport, CURLcode code, struct push_answer *answer)
{
	char begin[128];
	size_t n = transport->size < sizeof(begin) - 1 ? transport->size : sizeof(begin) - 1;

	memcpy(begin, transport->body, n);
	begin[n] = 0;
	begin[strcspn(begin, "\r\n")] = 0;
	if (code)
		text__show(answer->error, sizeof(answer->error),
			   *transport->error ? transport->error
					     : transport->curl.easy_strerror(code),
			   0);
	else if (answer->status < 200 || answer->status > 299)
		text__show(answer->error, sizeof(answer->error), begin, 0);
}

static void read_answer(struct push_transport *transport, CURLcode code, struct push_answer *answer)
{
	struct push_curl *curl = &transport->curl;
	curl_off_t after = 0;

	memset(answer, 0, sizeof(*answer));
	/* An answer that broke off is none: nobody knows whether the body arrived. */
	if (!code)
		curl->easy_getinfo(transport->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	if (!code && !curl->easy_getinfo(transport->easy, CURLINFO_RETRY_AFTER, &after))
		answer->retry_after = after > 0 && after < 1 << 30 ? after : 0;
	describe(transport, code, answer);
	memcpy(answer->body, transport->body, transport->size);
	answer->size = transport->size;
}

bool push_transport__poll(struct push_transport *transport, int timeout_ms,
			  struct push_answer *answer)
{
	struct push_curl *curl = &transport->curl;
	CURLMsg *message;
	int running, left;

	curl->multi_perform(transport->multi, &running);
	message = curl->multi_info_read(transport->multi, &left);
	if (!message) {
		curl->multi_poll(transport->multi, NULL, 0, timeout_ms, NULL);
		return false;
	}
	read_answer(transport, message->data.result, answer);
	push_transport__cancel(transport);
	return true;
}

void push_transport__cancel(struct push_transport *transport)
{
	if (!transport->active)
		return;
	transport->curl.multi_remove_handle(transport->multi, transport->easy);
	forget_request(transport);
}

void push_transport__wake(struct push_transport *transport)
{
	transport->curl.multi_wakeup(transport->multi);
}

void push_transport__close(struct push_transport *transport)
{
	if (!transport)
		return;
	push_transport__cancel(transport);
	if (transport->easy)
		transport->curl.easy_cleanup(transport->easy);
	if (transport->multi)
		transport->curl.multi_cleanup(transport->multi);
	free(transport);
}
