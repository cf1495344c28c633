// SPDX-License-Identifier: BSD-2-Clause
/*
 * The HTTP server. libmicrohttpd's threads call answer(); the command's main loop sweeps.
 */
#include "cuda-trace/metrics/metrics_http.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cuda-trace/metrics/metrics_clients.h"
#include "cuda-trace/metrics/metrics_listen.h"
#include "cuda-trace/metrics/metrics_pages.h"
#include "cuda-trace/metrics/metrics_passwords.h"
#include "cuda-trace/metrics/metrics_text.h"
#include "cuda-trace/metrics/metrics_web.h"

#define THREADS		  4
#define CONNECTION_MEMORY (16u << 10) /* header and all: a larger request gets 431 */
#define SECONDS_TO_REST	  120	      /* metrics_clients.c has the other limits */

struct http {
	struct MHD_Daemon *daemon;
	struct pages *pages;
	struct clients *clients;
	struct web_config *config;
	struct passwords *passwords; /* NULL: there is no configuration */
	char address[160];
};

struct request {
	struct password_check *check;
};

static int socket_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **own,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http *http = context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		clients__step(http->clients, socket_of(connection), CLIENT_ASKS,
			      info ? info->client_addr : NULL);
	else
		clients__end(http->clients, socket_of(connection));
}

static void on_completed(void *context, struct MHD_Connection *connection, void **own,
			 enum MHD_RequestTerminationCode code)
{
	struct http *http = context;
	struct request *request = *own;

	clients__step(http->clients, socket_of(connection), CLIENT_RESTS, NULL);
	if (request && request->check)
		passwords__take(request->check);
	free(request);
	*own = NULL;
}

void http__sweep(struct http *http)
{
	clients__sweep(http->clients);
	if (pages__crowded(http->pages))
		clients__cut_late(http->clients);
}

static void add_header(void *response, const char *name, const char *value)
{
	MHD_add_response_header(response, name, value);
}

static enum MHD_Result send_response(struct http *http, struct MHD_Connection *connection,
				     unsigned int status, const char *type,
				     struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	if (http->config)
		web_config__each_header(http->config, add_header, response);
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Basic");
	if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
		MHD_add_response_header(response, "Retry-After", "1");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_text(struct http *http, struct MHD_Connection *connection,
				 unsigned int status, const char *type, const char *text)
{
	return send_response(http, connection, status, type,
			     MHD_create_response_from_buffer(strlen(text), (void *)text,
							     MHD_RESPMEM_PERSISTENT));
}

#define PLAIN "text/plain; charset=utf-8"

static const char front_page[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<title>cuda-trace metrics</title></head>\n<body><h1>cuda-trace metrics</h1>\n"
	"<p>What CUDA programs do on this machine, for Prometheus. Version " VERSION ".</p>\n"
	"<ul><li><a href=\"/metrics\">Metrics</a></li>"
	"<li><a href=\"/healthz\">Health</a></li></ul></body></html>\n";

/* A document on its way. */
struct sending {
	struct pages *pages;
	const struct page *page;
};

static ssize_t read_page(void *context, uint64_t position, char *buffer, size_t size)
{
	struct sending *sending = context;
	size_t left = sending->page->size - position;

	if (!left)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (left < size)
		size = left;
	memcpy(buffer, sending->page->text + position, size);
	return size;
}

static void end_sending(void *context)
{
	struct sending *sending = context;

	pages__put(sending->pages, sending->page);
	free(sending);
}

static struct sending *begin_sending(struct http *http, enum exposition_form form, bool packed,
				     uint64_t *age)
{
	struct sending *sending = malloc(sizeof(*sending));

	if (!sending)
		return NULL;
	sending->pages = http->pages;
	sending->page = pages__get(http->pages, form, packed, age);
	if (sending->page)
		return sending;
	free(sending);
	return NULL;
}

/* No newer one could be made, because clients keep too many. */
static void add_age(struct MHD_Response *response, uint64_t age)
{
	char seconds[24];

	snprintf(seconds, sizeof(seconds), "%" PRIu64, (age + 999999999) / 1000000000);
	MHD_add_response_header(response, "Age", seconds);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result send_metrics(struct http *http, struct MHD_Connection *connection)
{
	static const char *const types[] = {TEXT_CONTENT_TYPE, OPENMETRICS_CONTENT_TYPE,
					    PROTOBUF_CONTENT_TYPE};
	enum exposition_form form = metrics_text__form(header(connection, "Accept"));
	const char *encodings = header(connection, "Accept-Encoding");
	uint64_t age = 0;
	struct sending *sending =
		begin_sending(http, form, encodings && strstr(encodings, "gzip"), &age);
	struct MHD_Response *response;

	if (!sending)
		return send_text(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE, PLAIN,
				 "no memory for a document\n");
	response = MHD_create_response_from_callback(sending->page->size, 32768, read_page, sending,
						     end_sending);
	if (!response) {
		end_sending(sending);
		return MHD_NO;
	}
	if (sending->page->packed)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	if (age)
		add_age(response, age);
	MHD_add_response_header(response, "Vary", "Accept, Accept-Encoding");
	return send_response(http, connection, MHD_HTTP_OK, types[form], response);
}

static uint64_t address_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return clients__address(info ? info->client_addr : NULL);
}

static void wake(void *connection)
{
	MHD_resume_connection(connection);
}

/* Suspends the connection: answer() is called again when the check is done. */
static enum web_answer begin_check(struct http *http, struct MHD_Connection *connection,
				   struct request *request, const char *user, const char *password)
{
	clients__step(http->clients, socket_of(connection), CLIENT_WAITS, NULL);
	MHD_suspend_connection(connection);
	request->check = passwords__begin(http->passwords, socket_of(connection),
					  address_of(connection), connection, user, password);
	if (request->check)
		return WEB_UNKNOWN;
	MHD_resume_connection(connection);
	return WEB_BUSY;
}

/* WEB_UNKNOWN: the answer comes later. */
static enum web_answer check_user(struct http *http, struct MHD_Connection *connection,
				  struct request *request)
{
	char *password = NULL, *user;
	enum web_answer answer;

	if (request->check) {
		answer = passwords__take(request->check);
		request->check = NULL;
		clients__step(http->clients, socket_of(connection), CLIENT_READS, NULL);
		return answer;
	}
	user = MHD_basic_auth_get_username_password(connection, &password);
	answer = web_config__lookup(http->config, user, password);
	if (answer == WEB_UNKNOWN)
		answer = begin_check(http, connection, request, user, password);
	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(user);
	MHD_free(password);
	return answer;
}

static enum MHD_Result send_page(struct http *http, struct MHD_Connection *connection,
				 const char *url)
{
	if (!strcmp(url, "/metrics"))
		return send_metrics(http, connection);
	if (!strcmp(url, "/healthz"))
		return send_text(http, connection, MHD_HTTP_OK, PLAIN, "ok\n");
	if (!strcmp(url, "/"))
		return send_text(http, connection, MHD_HTTP_OK, "text/html; charset=utf-8",
				 front_page);
	return send_text(http, connection, MHD_HTTP_NOT_FOUND, PLAIN, "not found\n");
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **own)
{
	struct http *http = context;
	enum web_answer allowed = WEB_ALLOWED;

	/* Once a request: a body that comes byte by byte must not begin the time anew. */
	if (!*own)
		clients__step(http->clients, socket_of(connection), CLIENT_READS, NULL);
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return send_text(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED, PLAIN,
				 "only GET and HEAD\n");
	/* An answer after the header alone makes libmicrohttpd close; it wants a second call. */
	if (!*own) {
		*own = calloc(1, sizeof(struct request));
		return *own ? MHD_YES : MHD_NO;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (http->config && !web_config__refresh(http->config))
		return send_text(http, connection, MHD_HTTP_INTERNAL_SERVER_ERROR, PLAIN,
				 "the web configuration is not usable: see the log\n");
	if (http->config)
		allowed = check_user(http, connection, *own);
	switch (allowed) {
	case WEB_DENIED:
		return send_text(http, connection, MHD_HTTP_UNAUTHORIZED, PLAIN, "Unauthorized\n");
	case WEB_BUSY:
		return send_text(http, connection, MHD_HTTP_TOO_MANY_REQUESTS, PLAIN,
				 "too many passwords are being checked\n");
	case WEB_UNKNOWN:
		return MHD_YES;
	case WEB_ALLOWED:
		break;
	}
	return send_page(http, connection, url);
}

static void keep_quiet(void *context, const char *format, va_list arguments)
{
}

static struct MHD_Daemon *start(struct http *http, int fd)
{
	static const char *const priorities[] = {"NORMAL", "NORMAL:-VERS-TLS1.0",
						 "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1",
						 "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1:-VERS-TLS1.2"};
	const char *certificate = http->config ? web_config__certificate(http->config) : NULL;
	unsigned int flags =
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
		{MHD_OPTION_HTTPS_MEM_KEY, 0,
		 http->config ? (void *)web_config__key(http->config) : NULL},
		{MHD_OPTION_HTTPS_PRIORITIES, 0,
		 (void *)priorities[http->config ? web_config__min_tls(http->config) - 10 : 0]},
		{MHD_OPTION_END, 0, NULL},
	};
	struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

	if (certificate)
		flags |= MHD_USE_TLS;
	return MHD_start_daemon(flags, 0, NULL, NULL, answer, http, MHD_OPTION_EXTERNAL_LOGGER,
				keep_quiet, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_THREAD_POOL_SIZE, THREADS, MHD_OPTION_CONNECTION_LIMIT,
				CLIENTS_SLOTS, MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned int)SECONDS_TO_REST, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
				on_connection, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
				http, MHD_OPTION_ARRAY, certificate ? tls : none, MHD_OPTION_END);
}

struct http *http__start(const char *where, struct exporter *exporter, struct web_config *config)
{
	struct http *http = calloc(1, sizeof(*http));
	int fd;

	if (!http)
		return NULL;
	http->pages = pages__new(exporter);
	http->config = config;
	http->clients = clients__new();
	if (config)
		http->passwords = passwords__new(config, wake);
	fd = http->pages && http->clients && !config == !http->passwords
		     ? listen__open(where, http->address, sizeof(http->address))
		     : -1;
	if (fd >= 0) {
		http->daemon = start(http, fd);
		if (http->daemon)
			return http;
		fprintf(stderr, "cuda-trace metrics: the HTTP server did not start%s\n",
			config && web_config__certificate(config)
				? ": are certificate and key a pair of PEM files?"
				: "");
		close(fd);
	}
	http__stop(http);
	return NULL;
}

const char *http__address(const struct http *http)
{
	return http->address;
}

void http__stop(struct http *http)
{
	if (!http)
		return;
	/* libmicrohttpd cannot stop while connections are suspended. */
	passwords__stop(http->passwords);
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	passwords__free(http->passwords);
	pages__free(http->pages);
	clients__free(http->clients);
	free(http);
}
