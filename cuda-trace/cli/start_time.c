// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/cli/start_time.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S    1000000000ull
#define SECONDS_MAX 9000000000ull /* the year 2255: ns fit into 63 bits */

/* Digits, at most `most`; moves on. */
static bool scan_number(const char **text, int least, int most, uint64_t *number)
{
	int n = 0;

	*number = 0;
	for (; n < most && isdigit((unsigned char)**text); n++)
		*number = *number * 10 + *(*text)++ - '0';
	return n >= least && !isdigit((unsigned char)**text);
}

/* ".25", or nothing; of more than nine digits, the rest is below a nanosecond. */
static bool scan_fraction(const char **text, uint64_t *ns)
{
	uint64_t scale = NS_PER_S / 10;

	*ns = 0;
	if (**text != '.')
		return true;
	if (!isdigit((unsigned char)*++*text))
		return false;
	for (; isdigit((unsigned char)**text); scale /= 10)
		*ns += (*(*text)++ - '0') * scale;
	return true;
}

static bool skip(const char **text, const char *any)
{
	return **text && strchr(any, **text) && (*text)++;
}

static int parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t seconds, fraction;

	if (!scan_number(&text, 1, 10, &seconds) || !scan_fraction(&text, &fraction) || *text)
		return -EINVAL;
	if (seconds > SECONDS_MAX)
		return -ERANGE;
	*ns = seconds * NS_PER_S + fraction;
	return 0;
}

/* Of a minute, the leap second is the first one of the next. */
static bool scan_clock(const char **text, bool seconds_needed, struct tm *tm, uint64_t *fraction)
{
	uint64_t hour, minute, second = 0;

	*fraction = 0;
	if (!scan_number(text, 1 + seconds_needed, 2, &hour) || !skip(text, ":") ||
	    !scan_number(text, 2, 2, &minute))
		return false;
	if (skip(text, ":")) {
		if (!scan_number(text, 2, 2, &second) || !scan_fraction(text, fraction))
			return false;
	} else if (seconds_needed) {
		return false;
	}
	tm->tm_hour = hour;
	tm->tm_min = minute;
	tm->tm_sec = second;
	return hour < 24 && minute < 60 && second <= 60;
}

static bool scan_date(const char **text, struct tm *tm)
{
	uint64_t year, month, day;

	if (!scan_number(text, 4, 4, &year) || !skip(text, "-") ||
	    !scan_number(text, 2, 2, &month) || !skip(text, "-") || !scan_number(text, 2, 2, &day))
		return false;
	tm->tm_year = (int)year - 1900;
	tm->tm_mon = (int)month - 1;
	tm->tm_mday = day;
	return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool scan_offset(const char **text, int64_t *seconds)
{
	uint64_t hours, minutes;
	bool west = **text == '-';

	*seconds = 0;
	if (skip(text, "Zz"))
		return true;
	if (!skip(text, "+-") || !scan_number(text, 2, 2, &hours) || !skip(text, ":") ||
	    !scan_number(text, 2, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*seconds = (int64_t)(hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return true;
}

static int parse_rfc3339(const char *text, uint64_t *time)
{
	struct tm tm = {};
	uint64_t fraction;
	int64_t offset, seconds;
	int day;

	if (!scan_date(&text, &tm) || !skip(&text, "Tt ") ||
	    !scan_clock(&text, true, &tm, &fraction) || !scan_offset(&text, &offset) || *text)
		return -EINVAL;
	day = tm.tm_mday;
	seconds = timegm(&tm);
	/* February has no 30th day. */
	if (tm.tm_mday != day && tm.tm_sec == 0 && tm.tm_hour + tm.tm_min > 0)
		return -EINVAL;
	seconds -= offset;
	if (seconds < 0 || seconds > (int64_t)SECONDS_MAX)
		return -ERANGE;
	*time = seconds * NS_PER_S + fraction;
	return 0;
}

/* Today or, if that is over, tomorrow; an hour that a change of the clocks leaves out is that of
 * mktime(). */
static int parse_clock(const char *text, uint64_t now, uint64_t *time)
{
	time_t seconds = now / NS_PER_S;
	struct tm today, tm = {};
	uint64_t fraction;

	if (!scan_clock(&text, false, &tm, &fraction) || *text || !localtime_r(&seconds, &today))
		return -EINVAL;
	for (int days = 0; days < 2; days++) {
		struct tm day = today;

		day.tm_mday += days;
		day.tm_hour = tm.tm_hour;
		day.tm_min = tm.tm_min;
		day.tm_sec = tm.tm_sec;
		day.tm_isdst = -1;
		seconds = mktime(&day);
		if (seconds < 0)
			return -ERANGE;
		*time = seconds * NS_PER_S + fraction;
		if (*time > now)
			return 0;
	}
	return -ERANGE;
}

int start_time__parse(const char *text, uint64_t now, uint64_t *time)
{
	size_t digits = strspn(text, "0123456789");
	int err;

	if (*text == '+') {
		err = parse_seconds(text + 1, time);
		if (!err)
			*time += now;
	} else if (*text == '@') {
		err = parse_seconds(text + 1, time);
	} else if (text[digits] == ':') {
		err = parse_clock(text, now, time);
	} else {
		err = parse_rfc3339(text, time);
	}
	if (err)
		return err;
	return *time < now ? -ETIME : 0;
}

const char *start_time__utc(char *text, size_t size, uint64_t time)
{
	time_t seconds = time / NS_PER_S;
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, size, "%s.%09lluZ", date, (unsigned long long)(time % NS_PER_S));
	return text;
}

const char *start_time__local(char *text, size_t size, uint64_t time, uint64_t now)
{
	time_t seconds = time / NS_PER_S, today = now / NS_PER_S;
	struct tm tm, other;

	*text = 0;
	if (localtime_r(&seconds, &tm) && localtime_r(&today, &other))
		strftime(text, size,
			 tm.tm_yday == other.tm_yday && tm.tm_year == other.tm_year
				 ? "%H:%M:%S"
				 : "%Y-%m-%d %H:%M:%S",
			 &tm);
	return text;
}
