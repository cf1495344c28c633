// SPDX-License-Identifier: BSD-2-Clause
/*
 * ncurses around the pages. The command's one thread.
 */
#include "cuda-trace/top/top_screen.h"

#include <errno.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>
#include "cuda-trace/base/clock.h"

#define LOOK_MS	   100
#define FOOT	   1 /* the line of keys */
#define KEY_ESCAPE 27

enum { PAIR_TITLE = 1, PAIR_HEADER, PAIR_SELECTED, PAIR_WARNING };

struct screen {
	struct top_model *model;
	struct top_view *view;
	struct page page;
	bool colour;
	bool quit;
	char message[128]; /* in place of the keys, until the next one is pressed */
	int list_selected; /* of the processes, while kernels are shown */
};

static int attributes(const struct screen *screen, enum line_style style)
{
	switch (style) {
	case LINE_TITLE:
		return A_BOLD | (screen->colour ? COLOR_PAIR(PAIR_TITLE) : 0);
	case LINE_HEADER:
		return screen->colour ? COLOR_PAIR(PAIR_HEADER) : A_BOLD | A_UNDERLINE;
	case LINE_SELECTED:
		return A_REVERSE;
	case LINE_WARNING:
		return A_BOLD | (screen->colour ? COLOR_PAIR(PAIR_WARNING) : 0);
	case LINE_DIM:
		return A_DIM;
	default:
		return 0;
	}
}

static void draw_foot(const struct screen *screen)
{
	const char *keys =
		" q quit  Enter kernels  <> sort  / filter  p pause  g graphs  w write  ? help";

	if (screen->model->idle.idle)
		keys = " q quit  Enter kernels  i idle  <> sort  / filter  p pause  w write  ? "
		       "help";
	if (screen->view->help)
		keys = " any key goes back";
	else if (screen->view->idle)
		keys = " i or q back  p pause  w write  ? help";
	else if (screen->view->pid)
		keys = " q back  / filter  p pause  w write  ? help";
	attron(A_REVERSE);
	mvhline(LINES - 1, 0, ' ', COLS);
	mvaddnstr(LINES - 1, 0, *screen->message ? screen->message : keys, COLS);
	attroff(A_REVERSE);
}

static void draw(struct screen *screen)
{
	struct page *page = &screen->page;

	page->columns = COLS < LINE_COLUMNS ? COLS : LINE_COLUMNS;
	screen->view->lines = LINES > FOOT ? LINES - FOOT : 1;
	top_page__draw(page, screen->model, screen->view);
	erase();
	for (int i = 0; i < page->count && i < LINES - FOOT; i++) {
		int style = attributes(screen, page->lines[i].style);

		attron(style);
		if (page->lines[i].style == LINE_HEADER || page->lines[i].style == LINE_SELECTED)
			mvhline(i, 0, ' ', COLS);
		/* Counts characters, not bytes, and cuts at the edge. */
		mvaddnstr(i, 0, page->lines[i].text, -1);
		attroff(style);
		/* What was longer than the line went on in the next one: that is drawn over. */
		if (i + 1 < LINES)
			move(i + 1, 0), clrtoeol();
	}
	draw_foot(screen);
	refresh();
}

/* A line of text from the user at the bottom. False: Escape. */
static bool ask(const char *question, char *answer, size_t size)
{
	size_t length = strlen(answer);

	for (;;) {
		int key;

		attron(A_REVERSE);
		mvhline(LINES - 1, 0, ' ', COLS);
		mvprintw(LINES - 1, 0, " %s%s", question, answer);
		attroff(A_REVERSE);
		refresh();
		timeout(-1);
		key = getch();
		timeout(LOOK_MS);
		if (key == '\n' || key == KEY_ENTER)
			return true;
		if (key == KEY_ESCAPE || key == ERR)
			return false;
		if ((key == KEY_BACKSPACE || key == 127 || key == 8) && length)
			answer[--length] = 0;
		else if (key >= ' ' && key < 127 && length + 1 < size) {
			answer[length++] = key;
			answer[length] = 0;
		}
	}
}

static void write_page(struct screen *screen)
{
	char path[256] = "cuda-trace-top.txt";
	FILE *file;

	if (!ask("write the page into: ", path, sizeof(path)))
		return;
	/* Not over a file that is there: the name is quickly typed. */
	file = fopen(path, "wxe");
	if (!file) {
		snprintf(screen->message, sizeof(screen->message), " %.80s: %s", path,
			 strerror(errno));
		return;
	}
	page__print(&screen->page, file);
	snprintf(screen->message, sizeof(screen->message), " %.80s: %s", path,
		 fclose(file) ? strerror(errno) : "written");
}

static void open_kernels(struct screen *screen)
{
	struct top_view *view = screen->view;

	if (view->pid || view->idle || !view->selected_pid)
		return;
	screen->list_selected = view->selected;
	view->pid = view->selected_pid;
	view->filter[0] = 0;
	view->selected = view->first = 0;
}

static void show_causes(struct screen *screen, bool shown)
{
	struct top_view *view = screen->view;

	if (!screen->model->idle.idle) {
		snprintf(screen->message, sizeof(screen->message),
			 " top --idle shows why the GPUs were idle");
		return;
	}
	view->idle = shown;
	view->selected = view->first = 0;
}

static void go_back(struct screen *screen)
{
	struct top_view *view = screen->view;

	if (view->idle) {
		show_causes(screen, false);
		return;
	}
	if (!view->pid) {
		screen->quit = true;
		return;
	}
	view->pid = 0;
	view->filter[0] = 0;
	view->selected = screen->list_selected;
	view->first = 0;
}

static bool handle_sort_key(struct top_view *view, int key)
{
	static const char keys[] = "GLCMWEPN"; /* in the order of TOP_SORTS */
	const char *at = key > 0 && key < 127 ? strchr(keys, key) : NULL;

	if (at)
		view->sort = at - keys;
	else if (key == '>' || key == 's')
		view->sort = (view->sort + 1) % TOP_SORT_COUNT;
	else if (key == '<')
		view->sort = (view->sort + TOP_SORT_COUNT - 1) % TOP_SORT_COUNT;
	else if (key == 'r')
		view->reverse = !view->reverse;
	else
		return false;
	return true;
}

static bool handle_move(struct top_view *view, int key)
{
	int page = view->rows > 1 ? view->rows - 1 : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		view->selected--;
		break;
	case KEY_DOWN:
	case 'j':
		view->selected++;
		break;
	case KEY_PPAGE:
		view->selected -= page;
		break;
	case KEY_NPAGE:
		view->selected += page;
		break;
	case KEY_HOME:
		view->selected = 0;
		break;
	case KEY_END:
		view->selected = view->row_count - 1;
		break;
	default:
		return false;
	}
	if (view->selected < 0)
		view->selected = 0;
	return true;
}

static void handle_key(struct screen *screen, int key)
{
	struct top_view *view = screen->view;

	screen->message[0] = 0;
	if (view->help && key != KEY_RESIZE) {
		view->help = false;
		return;
	}
	if (handle_move(view, key) || handle_sort_key(view, key))
		return;
	switch (key) {
	case 'q':
	case KEY_ESCAPE:
		go_back(screen);
		break;
	case '\n':
	case KEY_ENTER:
		open_kernels(screen);
		break;
	case '/':
		ask("show names with: ", view->filter, sizeof(view->filter));
		view->selected = view->first = 0;
		break;
	case 'p':
	case ' ':
		view->paused = !view->paused;
		break;
	case 'g':
		view->graphs = !view->graphs;
		break;
	case 'i':
		show_causes(screen, !view->idle);
		break;
	case 'w':
		write_page(screen);
		break;
	case '?':
	case 'h':
		view->help = true;
		break;
	}
}

static int start_terminal(struct screen *screen)
{
	SCREEN *terminal = newterm(NULL, stdout, stdin);

	if (!terminal) {
		fprintf(stderr, "cuda-trace top: this terminal cannot be used: use -b\n");
		return -ENOTTY;
	}
	set_term(terminal);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	timeout(LOOK_MS);
	screen->colour = screen->colour && has_colors() && start_color() == OK;
	if (screen->colour) {
		use_default_colors();
		init_pair(PAIR_TITLE, COLOR_CYAN, -1);
		init_pair(PAIR_HEADER, COLOR_BLACK, COLOR_GREEN);
		init_pair(PAIR_WARNING, COLOR_RED, -1);
	}
	return 0;
}

/* While paused nothing is collected: the next interval is as long as the pause was. */
static bool end_interval(struct screen *screen)
{
	if (screen->view->paused || top_model__collect(screen->model))
		return false;
	return true;
}

int top_screen__run(struct top_model *model, struct top_view *view, uint64_t interval_ns,
		    uint64_t count, bool colour, volatile sig_atomic_t *stopped)
{
	struct screen screen = {.model = model, .view = view, .colour = colour};
	uint64_t next = monotonic__ns() + interval_ns, shown = 0;
	int err = start_terminal(&screen);

	if (err)
		return err;
	top_model__collect(model);
	while (!screen.quit && !*stopped && !err && !(count && shown >= count)) {
		int key;

		draw(&screen);
		key = getch();
		if (key != ERR)
			handle_key(&screen, key);
		err = live__poll(model->live, 0);
		if (err == -EINTR)
			err = 0;
		if (monotonic__ns() < next)
			continue;
		next = monotonic__ns() + interval_ns;
		if (!view->paused)
			top_model__forget_ended(model, top_model__find(model, view->pid));
		if (end_interval(&screen))
			shown++;
	}
	endwin();
	page__free(&screen.page);
	return err;
}
