// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/push/push_url.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

const char *push_url__split(const char *url, char **base, const char **path)
{
	size_t scheme = !strncasecmp(url, "http://", 7)	   ? 7
			: !strncasecmp(url, "https://", 8) ? 8
							   : 0;
	size_t host;

	if (!scheme)
		return "it begins with neither http:// nor https://";
	host = strcspn(url + scheme, "/?#");
	if (!host)
		return "the host is missing";
	/* Everybody can read the arguments of a command. */
	if (memchr(url + scheme, '@', host))
		return "passwords go into a file (--token-file, --header @FILE)";
	for (const char *at = url; *at; at++)
		if (*at <= ' ' || *at > '~')
			return "it has blanks or characters that are not ASCII";
	*path = url + scheme + host;
	if (!strcmp(*path, "") || !strcmp(*path, "/"))
		*path = NULL;
	*base = strndup(url, scheme + host);
	return *base ? NULL : "there is no memory";
}
