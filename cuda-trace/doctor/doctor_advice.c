// SPDX-License-Identifier: BSD-2-Clause
/*
 * What to do about an image's libcupti: the package, and lines for a Dockerfile that work.
 * Called by cmd_doctor; one thread.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "cuda-trace/inventory/libcupti_choice.h"
#include "cuda-trace/doctor/doctor_findings.h"
#include "cuda-trace/doctor/doctor_image.h"
#include "cuda-trace/inventory/libcupti_list.h"
#include "cuda-trace/inventory/packages.h"
#include "cuda-trace/doctor/doctor_profiling.h"
#include "cuda-trace/doctor/doctor_report.h"

/* What a distribution itself has; NVIDIA's repository has cuda-cupti-X-Y for every release. */
static const struct {
	const char *id, *version, *package;
	unsigned int major, minor;
} distributions[] = {
	{"ubuntu", "22.04", "libcupti-dev", 11, 5}, {"debian", "11", "libcupti11.2", 11, 2},
	{"debian", "12", "libcupti11.8", 11, 8},    {"debian", "13", "libcupti12", 12, 4},
	{"ubuntu", "25.04", "libcupti12", 12, 4},   {"ubuntu", "25.10", "libcupti12", 12, 4},
	{"ubuntu", "26.04", "libcupti12", 12, 4},
};

bool image__package(const struct image *image, char out[64])
{
	if (!image->cuda_major || !image->minor_known)
		return false;
	snprintf(out, 64, "cuda-cupti-%u-%u", image->cuda_major, image->cuda_minor);
	return true;
}

static void pip_package(unsigned int major, char out[64])
{
	if (major >= 13)
		snprintf(out, 64, "'nvidia-cuda-cupti==%u.*'", major);
	else
		snprintf(out, 64, "nvidia-cuda-cupti-cu%u", major);
}

/* The distribution's own CUDA, if the agent uses its CUPTI. */
static const char *own_package(const struct image *image)
{
	size_t i;

	if (strncmp(image->cudart, "/usr/lib/", 9) || image->wheel)
		return NULL;
	for (i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++)
		if (!strcmp(image->id, distributions[i].id) &&
		    !strcmp(image->version, distributions[i].version) &&
		    distributions[i].major * 100 + distributions[i].minor >= 1108 &&
		    distributions[i].major == image->cuda_major)
			return distributions[i].package;
	return NULL;
}

void image__install_command(const struct image *image, char *out, size_t size)
{
	char package[64];

	if (image->wheel && image->cuda_major) {
		pip_package(image->cuda_major, package);
		snprintf(out, size, "pip install %s", package);
	} else if (own_package(image)) {
		snprintf(out, size, "apt-get install -y %s", own_package(image));
	} else if (image__package(image, package)) {
		snprintf(out, size, image->redhat ? "dnf install -y %s" : "apt-get install -y %s",
			 package);
	} else {
		snprintf(out, size, "install CUPTI for the CUDA of the programs: cuda-cupti-X-Y");
	}
}

/* In the apt lists that the image still has: "N bytes to fetch, M kB installed". */
struct size_search {
	struct filetree *tree;
	const char *package;
	char size[24], installed[24];
};

static int search_list(void *context, const char *path)
{
	struct size_search *search = context;
	FILE *file = filetree__stream(search->tree, path);
	char line[4096];
	bool inside = false;

	while (file && filetree__line(file, line, sizeof(line))) {
		if (!strncmp(line, "Package: ", 9))
			inside = !strcmp(line + 9, search->package);
		else if (inside && !strncmp(line, "Size: ", 6))
			snprintf(search->size, sizeof(search->size), "%.20s", line + 6);
		else if (inside && !strncmp(line, "Installed-Size: ", 16))
			snprintf(search->installed, sizeof(search->installed), "%.20s", line + 16);
	}
	if (file)
		fclose(file);
	return *search->size || filetree__exhausted(search->tree);
}

static void tell_size(struct filetree *tree, const char *package, char *out, size_t size)
{
	struct size_search search = {.tree = tree, .package = package};

	filetree__glob(tree, "/var/lib/apt/lists/*Packages", search_list, &search);
	if (*search.size)
		snprintf(out, size, "%s bytes to fetch, %s kB installed", search.size,
			 *search.installed ? search.installed : "unknown");
	else
		snprintf(out, size, "its size is not in this image's package lists");
}

/* Where the COPY goes: the real folder behind lib64, as a link there would be replaced. */
static void destination(struct filetree *tree, const struct image *image, char *out, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/usr/local/cuda-%u.%u/lib64", image->cuda_major % 1000,
		 image->cuda_minor % 1000);
	if (filetree__resolve(tree, path, out, size))
		snprintf(out, size, "%s", path);
}

static void image_tag(const struct image *image, char *out, size_t size)
{
	char full[40];

	if (*image->cuda_full)
		snprintf(full, sizeof(full), "%s", image->cuda_full);
	else
		snprintf(full, sizeof(full), "%u.%u.0", image->cuda_major, image->cuda_minor);
	if (!strcmp(image->id, "ubuntu"))
		snprintf(out, size, "nvidia/cuda:%s-devel-ubuntu%s", full, image->version);
	else if (image->redhat)
		snprintf(out, size, "nvidia/cuda:%s-devel-ubi%.*s", full,
			 (int)strcspn(image->version, "."), image->version);
	else
		snprintf(out, size, "nvidia/cuda:%s-devel-ubuntu22.04", full);
}

static void write_package_lines(const struct image *image, const char *package,
				const char *size_text, FILE *out)
{
	fprintf(out, "# A: the package (%s)\n", size_text);
	if (image->redhat)
		fprintf(out, "RUN dnf install -y %s && dnf clean all\n", package);
	else
		fprintf(out,
			"RUN apt-get update && apt-get install -y --no-install-recommends %s && rm "
			"-rf "
			"/var/lib/apt/lists/*\n",
			package);
}

static void write_copy_lines(struct filetree *tree, const struct image *image, FILE *out)
{
	char to[FILETREE_PATH_MAX], quoted[FILETREE_PATH_MAX], tag[128], name[32];

	destination(tree, image, to, sizeof(to));
	image_tag(image, tag, sizeof(tag));
	if (image->cuda_major == 11)
		snprintf(name, sizeof(name), "libcupti.so.11.%u", image->cuda_minor % 1000);
	else
		snprintf(name, sizeof(name), "libcupti.so.%u", image->cuda_major % 1000);
	fprintf(out, "\n# B: only the file, copied from the devel image\n");
	fprintf(out, "FROM %s AS cupti\n", tag);
	fprintf(out,
		"RUN mkdir /cupti && cp -L \"$(find /usr/local/cuda-%u.%u/ -name %s | head -n 1)\" "
		"/cupti/\n",
		image->cuda_major, image->cuda_minor, name);
	fprintf(out, "# and in the final stage\nCOPY --from=cupti /cupti/%s %s/\n", name,
		shell_word(to, quoted, sizeof(quoted)));
}

static void advise_missing(struct filetree *tree, const struct image *image,
			   struct findings *findings)
{
	char package[64], size_text[96], *lines = NULL;
	size_t size;
	FILE *out = open_memstream(&lines, &size);

	if (!out)
		return;
	if (image->wheel) {
		pip_package(image->cuda_major, package);
		fprintf(out, "# A: the wheel, where the program's other CUDA wheels are\n");
		fprintf(out, "RUN pip install --no-cache-dir %s\n", package);
	} else if (own_package(image)) {
		tell_size(tree, own_package(image), size_text, sizeof(size_text));
		write_package_lines(image, own_package(image), size_text, out);
	} else if (image__package(image, package)) {
		tell_size(tree, package, size_text, sizeof(size_text));
		write_package_lines(image, package, size_text, out);
		write_copy_lines(tree, image, out);
	}
	fprintf(out, "\n# or leave it out, and delete any COPY of libcupti: programs run as "
		     "before. What is\n"
		     "# lost: GPU times in cuda-trace (launches, sizes and errors stay) and in "
		     "torch.profiler.\n");
	fclose(out);
	findings__advise(findings, "For the Dockerfile, one of:", lines);
	free(lines);
}

/* A devel image has it: the COPY for the stages that follow, with the real file's name. */
static void advise_present(const struct choice *choice, struct findings *findings)
{
	const struct library *library = choice->found;
	char from[FILETREE_PATH_MAX], to[FILETREE_PATH_MAX], lines[2 * FILETREE_PATH_MAX + 256];
	const char *file = choice__file(choice), *slash = strrchr(file, '/');

	snprintf(to, sizeof(to), "%.*s/%s", slash ? (int)(slash - file) : 0, file,
		 *library->elf.soname ? library->elf.soname : "libcupti.so");
	snprintf(lines, sizeof(lines), "COPY --from=STAGE %s ",
		 shell_word(library->real ?: library->path, from, sizeof(from)));
	strncat(lines, shell_word(to, from, sizeof(from)), sizeof(lines) - strlen(lines) - 1);
	findings__advise(findings, "To copy it into a smaller image (STAGE is this one):", lines);
}

static void report_distribution_package(const struct packages *packages, const struct image *image,
					struct findings *findings)
{
	char version[96] = "", fix[160], command[96];
	size_t i;
	bool installed;

	for (i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++)
		if (!strcmp(image->id, distributions[i].id) &&
		    !strcmp(image->version, distributions[i].version))
			break;
	if (i == sizeof(distributions) / sizeof(distributions[0]) || !image->minor_known ||
	    (image->cuda_major == distributions[i].major &&
	     image->cuda_minor == distributions[i].minor))
		return;
	installed = packages__version(packages, "libcupti-dev", version, sizeof(version));
	image__install_command(image, command, sizeof(command));
	snprintf(fix, sizeof(fix), "%s%s", installed ? "apt-get purge -y libcupti-dev && " : "",
		 command);
	if (installed)
		findings__add(findings, FINDING_PROBLEM, "distribution_package", fix,
			      "libcupti-dev %s is installed: it is %s's own, of CUDA %u.%u, but "
			      "this image is for CUDA %u.%u",
			      version, image->name, distributions[i].major, distributions[i].minor,
			      image->cuda_major, image->cuda_minor);
	else
		findings__add(findings, FINDING_NOTE, "distribution_package", NULL,
			      "do not install %s here: %s has that of CUDA %u.%u, but this image "
			      "is for CUDA %u.%u",
			      distributions[i].package, image->name, distributions[i].major,
			      distributions[i].minor, image->cuda_major, image->cuda_minor);
}

static void report_identity(const struct image *image, struct findings *findings)
{
	static const char *const flavours[] = {"without a CUDA runtime", "base (libcudart only)",
					       "runtime (libraries, no CUPTI by itself)",
					       "devel (compiler and tools)"};
	const char *name = *image->name ? image->name : "an unknown kind of image";

	if (!image->cuda_major)
		findings__add(findings, FINDING_NOTE, "image", NULL, "%s, %s", name,
			      flavours[FLAVOUR_NONE]);
	else
		findings__add(findings, FINDING_OK, "image", NULL, "%s, CUDA %u%s%.0u%s, %s%s",
			      name, image->cuda_major, image->minor_known ? "." : "",
			      image->cuda_minor,
			      image->minor_known && !image->cuda_minor ? "0" : "",
			      image->wheel ? "from Python wheels" : flavours[image->flavour],
			      image->torch ? ", with PyTorch" : "");
	if (image->musl)
		findings__add(findings, FINDING_PROBLEM, "musl", "use an image with glibc",
			      "this is a musl system: NVIDIA's libcupti and libcuda need glibc");
}

static void report_missing(struct libraries *libraries, const struct image *image,
			   const struct choice *choice, struct findings *findings)
{
	char command[128];

	if (!image->cuda_major && !libraries->count) {
		findings__add(findings, FINDING_NOTE, "libcupti", NULL,
			      "no libcupti: programs that bring their own CUDA runtime would be "
			      "traced without GPU times");
		return;
	}
	image__install_command(image, command, sizeof(command));
	findings__add(findings, FINDING_PROBLEM, "libcupti", command,
		      "no libcupti that the injection library would use%s: GPU times cannot be "
		      "traced in it%s",
		      choice->refused ? " (those found are not suitable, see below)" : "",
		      image->flavour == FLAVOUR_BASE || image->flavour == FLAVOUR_RUNTIME
			      ? "; NVIDIA's base and runtime images have none"
			      : "");
	if (image->cuda_major && !image->musl)
		advise_missing(libraries->tree, image, findings);
}

void image__report(struct libraries *libraries, const struct image *image,
		   struct findings *findings)
{
	struct choice_inputs inputs = {.cudart = image->cudart};
	struct choice choice;
	char cuda[16];

	report_identity(image, findings);
	choice__make(libraries, &inputs, &choice);
	report_distribution_package(libraries->packages, image, findings);
	if (!choice.found) {
		report_missing(libraries, image, &choice, findings);
	} else {
		findings__add_facts(
			findings, FINDING_OK, "libcupti", NULL, report__choice_facts(&choice),
			"GPU times can be traced: the injection library uses %s (CUDA %s): %s",
			choice__file(&choice), library__cuda(choice.found, cuda), choice.why);
		report__choice_flaws(&choice, findings);
		if (image->cuda_major && choice.found->cuda_major != image->cuda_major)
			findings__add(findings, FINDING_NOTE, "other_major", NULL,
				      "it is of CUDA %s, the image's runtime of CUDA %u: launches "
				      "through newer calls are not seen",
				      cuda, image->cuda_major);
		if (image->flavour == FLAVOUR_DEVEL)
			advise_present(&choice, findings);
		profiling__report_library(libraries, &choice, findings);
	}
	report__libraries(libraries, &choice, findings);
}
