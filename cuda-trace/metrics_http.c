// SPDX-License-Identifier: BSD-2-Clause
/*
 * The HTTP server. libmicrohttpd's threads call answer(); the command's main loop sweeps.
 */
#include "cuda-trace/metrics_http.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "cuda-trace/metrics_listen.h"
#include "cuda-trace/metrics_pages.h"
#include "cuda-trace/metrics_text.h"
#include "cuda-trace/metrics_web.h"

#define THREADS		  4
#define MOST_CONNECTIONS  64
#define MOST_PER_ADDRESS  32
#define CONNECTION_MEMORY (16u << 10) /* header and all: a larger request gets 431 */
#define SECONDS_TO_ASK	  10	      /* from connecting to the end of the request's header */
#define SECONDS_TO_READ	  30	      /* the answer */
#define SECONDS_BETWEEN	  120	      /* two requests on one connection */

struct connection {
	int fd; /* -1 = free */
	time_t deadline;
};

struct http {
	struct MHD_Daemon *daemon;
	struct pages *pages;
	struct web_config *config;
	char address[160];
	pthread_mutex_t lock; /* of connections */
	struct connection connections[MOST_CONNECTIONS];
};

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static int socket_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

/* libmicrohttpd's own timeout starts anew with every byte: a client that sends one now and then
 * would never be cut off by it. */
static void set_deadline(struct http *http, struct MHD_Connection *connection, int seconds)
{
	int fd = socket_of(connection), place = -1;

	pthread_mutex_lock(&http->lock);
	for (int i = 0; i < MOST_CONNECTIONS; i++) {
		if (http->connections[i].fd == fd) {
			place = i;
			break;
		}
		if (http->connections[i].fd < 0)
			place = i;
	}
	if (place >= 0)
		http->connections[place] = (struct connection){fd, now() + seconds};
	pthread_mutex_unlock(&http->lock);
}

static void forget(struct http *http, struct MHD_Connection *connection)
{
	int fd = socket_of(connection);

	pthread_mutex_lock(&http->lock);
	for (int i = 0; i < MOST_CONNECTIONS; i++)
		if (http->connections[i].fd == fd)
			http->connections[i].fd = -1;
	pthread_mutex_unlock(&http->lock);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **own,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		set_deadline(context, connection, SECONDS_TO_ASK);
	else
		forget(context, connection);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **own,
			 enum MHD_RequestTerminationCode code)
{
	set_deadline(context, connection, SECONDS_BETWEEN);
}

void http__sweep(struct http *http)
{
	time_t at = now();

	pthread_mutex_lock(&http->lock);
	for (int i = 0; i < MOST_CONNECTIONS; i++)
		if (http->connections[i].fd >= 0 && http->connections[i].deadline < at)
			/* The server sees the end of it and closes. */
			shutdown(http->connections[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&http->lock);
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

static ssize_t read_page(void *context, uint64_t position, char *buffer, size_t room)
{
	struct sending *sending = context;
	size_t left = sending->page->size - position;

	if (!left)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (left < room)
		room = left;
	memcpy(buffer, sending->page->text + position, room);
	return room;
}

static void end_sending(void *context)
{
	struct sending *sending = context;

	pages__put(sending->pages, sending->page);
	free(sending);
}

static struct sending *begin_sending(struct http *http, bool openmetrics, bool packed)
{
	struct sending *sending = malloc(sizeof(*sending));

	if (!sending)
		return NULL;
	sending->pages = http->pages;
	sending->page = pages__get(http->pages, openmetrics, packed);
	if (sending->page)
		return sending;
	free(sending);
	return NULL;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result send_metrics(struct http *http, struct MHD_Connection *connection)
{
	bool openmetrics = metrics_text__wants_openmetrics(header(connection, "Accept"));
	const char *encodings = header(connection, "Accept-Encoding");
	struct sending *sending =
		begin_sending(http, openmetrics, encodings && strstr(encodings, "gzip"));
	struct MHD_Response *response;

	if (!sending)
		return send_text(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE, PLAIN,
				 "too many scrapes at a time\n");
	response = MHD_create_response_from_callback(sending->page->size, 32768, read_page, sending,
						     end_sending);
	if (!response) {
		end_sending(sending);
		return MHD_NO;
	}
	if (sending->page->packed)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	MHD_add_response_header(response, "Vary", "Accept, Accept-Encoding");
	return send_response(http, connection, MHD_HTTP_OK,
			     openmetrics ? OPENMETRICS_CONTENT_TYPE : TEXT_CONTENT_TYPE, response);
}

static enum web_answer check_user(struct http *http, struct MHD_Connection *connection)
{
	char *password = NULL, *user = MHD_basic_auth_get_username_password(connection, &password);
	enum web_answer answer = web_config__check(http->config, user, password);

	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(user);
	MHD_free(password);
	return answer;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **own)
{
	struct http *http = context;
	enum web_answer allowed = WEB_ALLOWED;

	/* Once a request: a body that comes byte by byte must not begin the time anew. */
	if (!*own)
		set_deadline(http, connection, SECONDS_TO_READ);
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return send_text(http, connection, MHD_HTTP_METHOD_NOT_ALLOWED, PLAIN,
				 "only GET and HEAD\n");
	/* An answer after the header alone makes libmicrohttpd close; it wants a second call. */
	if (!*own) {
		*own = http;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (http->config && !web_config__refresh(http->config))
		return send_text(http, connection, MHD_HTTP_INTERNAL_SERVER_ERROR, PLAIN,
				 "the web configuration is not usable: see the log\n");
	if (http->config)
		allowed = check_user(http, connection);
	if (allowed == WEB_DENIED)
		return send_text(http, connection, MHD_HTTP_UNAUTHORIZED, PLAIN, "Unauthorized\n");
	if (allowed == WEB_BUSY)
		return send_text(http, connection, MHD_HTTP_TOO_MANY_REQUESTS, PLAIN,
				 "another password is being checked\n");
	if (!strcmp(url, "/metrics"))
		return send_metrics(http, connection);
	if (!strcmp(url, "/healthz"))
		return send_text(http, connection, MHD_HTTP_OK, PLAIN, "ok\n");
	if (!strcmp(url, "/"))
		return send_text(http, connection, MHD_HTTP_OK, "text/html; charset=utf-8",
				 front_page);
	return send_text(http, connection, MHD_HTTP_NOT_FOUND, PLAIN, "not found\n");
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
	unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG;
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
	return MHD_start_daemon(
		flags, 0, NULL, NULL, answer, http, MHD_OPTION_EXTERNAL_LOGGER, keep_quiet, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, THREADS,
		MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		MOST_PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SECONDS_BETWEEN,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, http, MHD_OPTION_ARRAY, certificate ? tls : none, MHD_OPTION_END);
}

struct http *http__start(const char *where, struct exporter *exporter, struct web_config *config)
{
	struct http *http = calloc(1, sizeof(*http));
	int fd;

	if (!http)
		return NULL;
	http->pages = pages__new(exporter);
	http->config = config;
	pthread_mutex_init(&http->lock, NULL);
	for (int i = 0; i < MOST_CONNECTIONS; i++)
		http->connections[i].fd = -1;
	fd = http->pages ? listen__open(where, http->address, sizeof(http->address)) : -1;
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
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	pages__free(http->pages);
	pthread_mutex_destroy(&http->lock);
	free(http);
}
