/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcurl, loaded when it is needed: linked, it and its thirty libraries would double the time that
 * each command takes to start.
 */
#ifndef CUDA_TRACE_PUSH_PUSH_CURL_H
#define CUDA_TRACE_PUSH_PUSH_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>

/* X(name) of curl_NAME(). */
#define PUSH_CURL_FUNCTIONS(X) \
	X(global_init)         \
	X(easy_init)           \
	X(easy_setopt)         \
	X(easy_getinfo)        \
	X(easy_strerror)       \
	X(easy_cleanup)        \
	X(multi_init)          \
	X(multi_add_handle)    \
	X(multi_remove_handle) \
	X(multi_perform)       \
	X(multi_poll)          \
	X(multi_wakeup)        \
	X(multi_info_read)     \
	X(multi_cleanup)       \
	X(slist_append)        \
	X(slist_free_all)

/* The macros of the same names are for those who call the functions themselves. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

struct push_curl {
#define PUSH_CURL_POINTER(name) __typeof__(curl_##name) *name;
	PUSH_CURL_FUNCTIONS(PUSH_CURL_POINTER)
#undef PUSH_CURL_POINTER
};

/* Once; false after a message. */
bool push_curl__load(struct push_curl *curl);

#endif
