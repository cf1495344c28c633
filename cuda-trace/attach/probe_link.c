// SPDX-License-Identifier: BSD-2-Clause
/*
 * One uprobe_multi link where the kernel has it, else one for each probe. A program's number is
 * its place among the object's programs of section "usdt".
 */
#include "cuda-trace/attach/probe_link.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/event.h"
#include "cuda-trace/attach/link_closer.h"
#include "cuda-trace/attach/multi_link.h"
#include "cuda-trace/attach/probe_sites.h"

#define SITES  128
#define SWITCH "probe_switchboard"

struct probe_link {
	int multi; /* -1 = none */
	int count;
	struct bpf_link *links[];
};

static bool is_at_probe(const struct bpf_program *program)
{
	return !strcmp(bpf_program__section_name(program), "usdt");
}

void probe_link__prepare(struct bpf_object *object)
{
	struct bpf_program *program;

	bool multi = multi_link__supported();

	bpf_object__for_each_program(program, object)
	{
		bool is_switch = !strcmp(bpf_program__name(program), SWITCH);

		if (multi && (is_switch || is_at_probe(program)))
			bpf_program__set_expected_attach_type(program, MULTI_LINK_ATTACH_TYPE);
		else if (is_switch)
			bpf_program__set_autoload(program, false);
	}
}

int probe_link__introduce(struct bpf_object *object)
{
	int map = bpf_object__find_map_fd_by_name(object, "probe_programs");
	struct bpf_program *program;
	uint32_t number = 0;

	if (!multi_link__supported())
		return 0;
	bpf_object__for_each_program(program, object)
	{
		int fd = bpf_program__fd(program);

		if (!is_at_probe(program))
			continue;
		if (number >= PROBE_PROGRAMS)
			return -E2BIG;
		if (fd >= 0 && bpf_map_update_elem(map, &number, &fd, BPF_ANY))
			return -errno;
		number++;
	}
	return 0;
}

static uint32_t number_of(struct bpf_object *object, const char *name)
{
	struct bpf_program *program;
	uint32_t number = 0;

	bpf_object__for_each_program(program, object)
	{
		if (!is_at_probe(program))
			continue;
		if (!strcmp(bpf_program__name(program), name))
			break;
		number++;
	}
	return number;
}

/* What a link is made of. */
struct points {
	uint64_t offsets[SITES], semaphores[SITES], cookies[SITES];
	uint32_t count;
};

/* A compiler may have made several sites of a probe: all of them. */
static int add_points(struct points *points, const struct probe_site *sites, int count,
		      const struct probe_wish *wish, uint64_t cookie)
{
	uint32_t before = points->count;

	for (int i = 0; i < count && points->count < SITES; i++) {
		if (strcmp(sites[i].name, wish->probe))
			continue;
		if (!sites[i].regular)
			return -EBADMSG;
		points->offsets[points->count] = sites[i].offset;
		points->semaphores[points->count] = sites[i].semaphore;
		points->cookies[points->count++] = cookie;
	}
	return points->count == before ? -ENOENT : 0;
}

static int attach_multi(struct probe_link *link, struct bpf_object *object,
			const struct probe_place *place, const char *provider,
			const struct probe_wish *wishes, int count, uint64_t *missing)
{
	struct bpf_program *board = bpf_object__find_program_by_name(object, SWITCH);
	struct probe_site sites[SITES];
	struct points points = {.count = 0};
	int found = probe_sites__read(place->path, provider, sites, SITES);

	if (found < 0)
		return found;
	for (int i = 0; i < count; i++) {
		int err = add_points(&points, sites, found, &wishes[i],
				     (uint64_t)wishes[i].value << 32 | place->whose |
					     number_of(object, wishes[i].program));

		if (err == -ENOENT)
			*missing |= 1ull << i;
		else if (err)
			return err;
	}
	if (!points.count)
		return 0;
	link->multi = multi_link__new(bpf_program__fd(board), place->path,
				      &(struct multi_link_points){
					      .offsets = points.offsets,
					      .semaphores = points.semaphores,
					      .cookies = points.cookies,
					      .count = points.count,
					      .pid = place->pid,
				      },
				      false);
	return link->multi < 0 ? link->multi : 0;
}

/* All sites of a probe. 0 or -errno; -ENOENT = the file has no such probe. */
static int attach_sites(struct probe_link *link, struct bpf_program *program, const char *path,
			const struct probe_site *sites, int count, const struct probe_wish *wish)
{
	struct points points = {.count = 0};
	int err = add_points(&points, sites, count, wish, (uint64_t)wish->value << 32);

	for (uint32_t i = 0; !err && i < points.count && link->count < SITES; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = points.semaphores[i],
			    .bpf_cookie = points.cookies[i]);
		struct bpf_link *made = bpf_program__attach_uprobe_opts(
			program, -1, path, points.offsets[i], &options);

		if (made)
			link->links[link->count++] = made;
		else
			err = -errno;
	}
	return err;
}

/* Not libbpf's way to find probes: it maps the file and lets libelf read it, with all rights. */
static int attach_each(struct probe_link *link, struct bpf_object *object,
		       const struct probe_place *place, const char *provider,
		       const struct probe_wish *wishes, int count, uint64_t *missing)
{
	struct probe_site sites[SITES];
	int found = probe_sites__read(place->path, provider, sites, SITES), err;

	if (found < 0)
		return found;
	for (int i = 0; i < count; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(object, wishes[i].program);

		err = program ? attach_sites(link, program, place->path, sites, found, &wishes[i])
			      : -ENOENT;
		if (err == -ENOENT)
			*missing |= 1ull << i;
		else if (err)
			return err;
	}
	return 0;
}

int probe_link__new(struct probe_link **made, struct bpf_object *object,
		    const struct probe_place *place, const char *provider,
		    const struct probe_wish *wishes, int count, uint64_t *missing)
{
	struct probe_link *link = calloc(1, sizeof(*link) + SITES * sizeof(link->links[0]));
	int err;

	*missing = 0;
	if (!link)
		return -ENOMEM;
	link->multi = -1;
	err = (multi_link__supported() ? attach_multi : attach_each)(link, object, place, provider,
								     wishes, count, missing);
	if (err) {
		probe_link__free(link);
		return err;
	}
	*made = link;
	return 0;
}

void probe_link__free(struct probe_link *link)
{
	if (!link)
		return;
	if (link->multi >= 0)
		link_closer__close(link->multi);
	for (int i = 0; i < link->count; i++)
		bpf_link__destroy(link->links[i]);
	free(link);
}
