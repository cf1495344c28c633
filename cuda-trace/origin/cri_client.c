// SPDX-License-Identifier: BSD-2-Clause
/*
 * One gRPC call over HTTP/2: libnghttp2 makes and reads the frames, protobuf-c the messages; the
 * socket is ours, so that its peer is checked and each wait is bounded.
 */
#include "cuda-trace/origin/engines.h"

#include <errno.h>

#if __has_include(<nghttp2/nghttp2.h>)
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "generated/cri.pb-c.h"
#include "cuda-trace/origin/engine_socket.h"

#define PREFIX 5 /* of a gRPC message: flag of compression, length */

struct call {
	int fd;
	uint8_t request[256];
	size_t request_size, sent;
	uint8_t *answer;
	size_t answer_size;
	bool closed;
	int status; /* of gRPC, 0 = it worked; -1 = none came */
	int err;
};

static ssize_t send_bytes(nghttp2_session *session, const uint8_t *bytes, size_t size, int flags,
			  void *context)
{
	struct call *call = context;
	ssize_t n = send(call->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? NGHTTP2_ERR_WOULDBLOCK
						 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static ssize_t read_request(nghttp2_session *session, int32_t stream, uint8_t *to, size_t size,
			    uint32_t *flags, nghttp2_data_source *source, void *context)
{
	struct call *call = context;
	size_t left = call->request_size - call->sent, n = left < size ? left : size;

	memcpy(to, call->request + call->sent, n);
	call->sent += n;
	if (call->sent == call->request_size)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return n;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
		   size_t size, void *context)
{
	struct call *call = context;

	if (size > ENGINE_ANSWER_SIZE - call->answer_size) {
		call->err = -EMSGSIZE;
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	memcpy(call->answer + call->answer_size, bytes, size);
	call->answer_size += size;
	return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
		     void *context)
{
	static const char status[] = "grpc-status";
	struct call *call = context;

	if (name_size == sizeof(status) - 1 && !memcmp(name, status, name_size))
		call->status = value_size != 1 || *value != '0';
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t code, void *context)
{
	struct call *call = context;

	call->closed = true;
	return 0;
}

#define HEADER(name, value)                                                                 \
	{                                                                                   \
		(uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, \
			NGHTTP2_NV_FLAG_NONE                                                \
	}

static int submit(nghttp2_session *session)
{
	const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, ENGINE_ANSWER_SIZE},
	};
	const nghttp2_nv headers[] = {
		HEADER(":method", "POST"),
		HEADER(":scheme", "http"),
		HEADER(":path", "/runtime.v1.RuntimeService/ListContainers"),
		HEADER(":authority", "localhost"),
		HEADER("content-type", "application/grpc"),
		HEADER("user-agent", "cuda-trace/" VERSION),
		HEADER("te", "trailers"),
	};
	const nghttp2_data_provider body = {.read_callback = read_request};

	if (nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, 2) ||
	    nghttp2_submit_request(session, NULL, headers, sizeof(headers) / sizeof(headers[0]),
				   &body, NULL) < 0)
		return -EPROTO;
	return 0;
}

static int receive(nghttp2_session *session, struct call *call)
{
	uint8_t bytes[16384];
	ssize_t n = recv(call->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n)
		return -EPROTO;
	if (nghttp2_session_mem_recv(session, bytes, n) < 0)
		return call->err ? call->err : -EPROTO;
	return 0;
}

static int exchange(nghttp2_session *session, struct call *call, uint64_t deadline)
{
	int err = submit(session);

	while (!err && !call->closed) {
		short events = 0;

		if (nghttp2_session_send(session))
			return -EPROTO;
		if (nghttp2_session_want_read(session))
			events |= POLLIN;
		if (nghttp2_session_want_write(session))
			events |= POLLOUT;
		if (!events)
			return -EPROTO;
		err = engine_socket__wait(call->fd, events, deadline);
		if (!err)
			err = receive(session, call);
	}
	return err;
}

static int run(struct call *call, uint64_t deadline)
{
	nghttp2_session_callbacks *callbacks;
	nghttp2_session *session;
	int err;

	if (nghttp2_session_callbacks_new(&callbacks))
		return -ENOMEM;
	nghttp2_session_callbacks_set_send_callback(callbacks, send_bytes);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	err = nghttp2_session_client_new(&session, callbacks, call) ? -ENOMEM : 0;
	nghttp2_session_callbacks_del(callbacks);
	if (err)
		return err;
	err = exchange(session, call, deadline);
	nghttp2_session_del(session);
	if (err)
		return err;
	/* As where the interface is switched off, beside Docker. */
	return call->status > 0 ? -ENOENT : call->status ? -EPROTO : 0;
}

static void put_size(uint8_t at[4], uint32_t size)
{
	for (int i = 0; i < 4; i++)
		at[i] = size >> (24 - 8 * i);
}

static int pack(struct call *call, const char *id)
{
	Runtime__V1__ContainerFilter filter = RUNTIME__V1__CONTAINER_FILTER__INIT;
	Runtime__V1__ListContainersRequest request = RUNTIME__V1__LIST_CONTAINERS_REQUEST__INIT;
	size_t size;

	filter.id = (char *)id;
	request.filter = &filter;
	size = runtime__v1__list_containers_request__get_packed_size(&request);
	if (size > sizeof(call->request) - PREFIX)
		return -EINVAL;
	put_size(call->request + 1, size);
	runtime__v1__list_containers_request__pack(&request, call->request + PREFIX);
	call->request_size = PREFIX + size;
	return 0;
}

/* The filter also matches the beginning of an id. */
static int unpack(const struct call *call, const char *id, struct origin *origin)
{
	Runtime__V1__ListContainersResponse *list;
	uint8_t size[4];
	int err = -ENOENT;

	if (call->answer_size < PREFIX || call->answer[0])
		return -EPROTO;
	put_size(size, call->answer_size - PREFIX);
	if (memcmp(size, call->answer + 1, sizeof(size)))
		return -EPROTO;
	list = runtime__v1__list_containers_response__unpack(NULL, call->answer_size - PREFIX,
							     call->answer + PREFIX);
	if (!list)
		return -EPROTO;
	for (size_t i = 0; i < list->n_containers; i++) {
		const Runtime__V1__Container *container = list->containers[i];

		if (strcmp(container->id, id))
			continue;
		for (size_t n = 0; n < container->n_labels; n++)
			kubelet_labels__set(origin, container->labels[n]->key,
					    container->labels[n]->value);
		err = 0;
	}
	runtime__v1__list_containers_response__free_unpacked(list, NULL);
	return err;
}

int cri_client__find(int fd, const char *id, uint64_t deadline, struct origin *origin)
{
	struct call call = {.fd = fd, .status = -1};
	int err = pack(&call, id);

	call.answer = malloc(ENGINE_ANSWER_SIZE);
	if (!call.answer)
		return -ENOMEM;
	if (!err)
		err = run(&call, deadline);
	if (!err)
		err = unpack(&call, id, origin);
	free(call.answer);
	return err;
}

#else

int cri_client__find(int fd, const char *id, uint64_t deadline, struct origin *origin)
{
	return -ENOSYS;
}

#endif
