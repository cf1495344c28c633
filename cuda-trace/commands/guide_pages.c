// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shows a page of docs/guide in the terminal. The pages are Markdown, which reads well as it is;
 * only what a terminal cannot use is left out: the targets of links, the marks of bold text, and
 * comments. Examples are shown as they are.
 */
#include "cuda-trace/commands/guide_pages.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda-trace/base/exit_status.h"
#include "embedded/guide.h"

#define TOPICS	(sizeof(embedded_guide) / sizeof(embedded_guide[0]))
#define COLUMNS 78

const char *guide_pages__topic(size_t i)
{
	return i < TOPICS ? embedded_guide[i].name : NULL;
}

void guide_pages__list(FILE *file)
{
	int column = 0;

	for (size_t i = 0; i < TOPICS; i++) {
		const char *name = embedded_guide[i].name;

		if (column + (int)strlen(name) + 2 > COLUMNS) {
			fputc('\n', file);
			column = 0;
		}
		column += fprintf(file, "%s%s%s", column ? " " : "  ", name,
				  i + 1 < TOPICS ? "," : "\n");
	}
}

static const char *find_page(const char *topic)
{
	const char *slash = strrchr(topic, '/');

	/* As the pages name each other: cookbook/idle-gpu. */
	if (slash && !strncmp(topic, "cookbook/", 9))
		topic = slash + 1;
	for (size_t i = 0; i < TOPICS; i++)
		if (!strcmp(embedded_guide[i].name, topic))
			return embedded_guide[i].text;
	return NULL;
}

/* Behind "[text]" at `from`: where "(target)" ends; NULL if that is no link. */
static const char *link_end(const char *from)
{
	const char *close = strchr(from, ']');
	const char *end = close && close[1] == '(' ? strchr(close, ')') : NULL;
	const char *paragraph = strstr(from, "\n\n");

	return end && (!paragraph || end < paragraph) ? end : NULL;
}

/* One paragraph's character at a time; `code` is true inside of `code`. */
static const char *write_character(const char *at, bool *code, FILE *out)
{
	const char *end;

	if (*at == '`')
		*code = !*code;
	if (*code || (*at != '[' && *at != '*')) {
		fputc(*at, out);
		return at + 1;
	}
	if (*at == '*')
		return at + (at[1] == '*' ? 2 : 1);
	end = link_end(at);
	if (!end) {
		fputc(*at, out);
		return at + 1;
	}
	for (at++; *at != ']';)
		at = write_character(at, code, out);
	return end + 1;
}

static void write_page(const char *text, FILE *out)
{
	bool example = false, code = false;

	for (const char *at = text; *at;) {
		size_t line = strcspn(at, "\n") + 1;

		if (!strncmp(at, "```", 3)) {
			example = !example;
			at += line;
		} else if (example) {
			fprintf(out, "    %.*s", (int)line, at);
			at += line;
		} else if (!strncmp(at, "<!--", 4)) {
			at += line;
		} else {
			while (*at && *at != '\n')
				at = write_character(at, &code, out);
			if (at[0] == '\n' && at[1] == '\n')
				code = false;
			if (*at)
				fputc(*at++, out);
		}
	}
}

/* The pager's stdin; NULL if there is none to be started. */
static FILE *open_pager(pid_t *child)
{
	const char *pager = getenv("PAGER");
	int ends[2];

	if (!isatty(STDOUT_FILENO) || (pager && (!*pager || !strcmp(pager, "cat"))))
		return NULL;
	if (pipe(ends))
		return NULL;
	*child = fork();
	if (*child > 0) {
		close(ends[0]);
		return fdopen(ends[1], "w");
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return NULL;
	}
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	/* As git has it: ends by itself where the page fits the screen. */
	setenv("LESS", "FRX", 0);
	if (pager)
		execlp("sh", "sh", "-c", pager, NULL);
	else
		execlp("less", "less", NULL);
	execlp("more", "more", NULL);
	execlp("cat", "cat", NULL);
	_exit(EXIT_TROUBLE);
}

int guide_pages__show(const char *topic)
{
	const char *text = find_page(topic);
	pid_t child = -1;
	FILE *pager;
	int status = EXIT_OK;

	if (!text)
		return -ENOENT;
	fflush(stdout);
	pager = open_pager(&child);
	/* Whoever leaves the pager early has read enough. */
	if (pager)
		signal(SIGPIPE, SIG_IGN);
	write_page(text, pager ? pager : stdout);
	if (pager)
		fclose(pager);
	else if (fflush(stdout))
		status = EXIT_TROUBLE;
	if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	return status;
}
