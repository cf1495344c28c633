// SPDX-License-Identifier: BSD-2-Clause
/*
 * A YAML file as a list of section, key and value. Called when the web configuration is read.
 */
#include "cuda-trace/metrics/metrics_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define LARGEST_FILE (256 << 10)

struct reader {
	const char *path;
	yaml_document_t *document;
	int (*take)(void *context, const struct yaml_entry *entry);
	void *context;
};

static int complain(const char *path, int line, const char *what)
{
	fprintf(stderr, "cuda-trace metrics: %s:%d: %s\n", path, line, what);
	return -EINVAL;
}

static int walk(struct reader *reader, yaml_node_t *mapping, const char *section, int depth)
{
	for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top; pair++) {
		yaml_node_t *key = yaml_document_get_node(reader->document, pair->key);
		yaml_node_t *value = yaml_document_get_node(reader->document, pair->value);
		int line = key->start_mark.line + 1, err;
		char name[256];

		if (key->type != YAML_SCALAR_NODE)
			return complain(reader->path, line, "a key must be plain text");
		if (value->type == YAML_SCALAR_NODE) {
			err = reader->take(reader->context,
					   &(struct yaml_entry){
						   .section = section,
						   .key = (char *)key->data.scalar.value,
						   .value = (char *)value->data.scalar.value,
						   .line = line,
					   });
			if (err)
				return err;
			continue;
		}
		if (value->type != YAML_MAPPING_NODE || depth == 2)
			return complain(reader->path, line,
					"a list or a deeper level is not known here");
		snprintf(name, sizeof(name), "%s%s%s", section, *section ? "." : "",
			 (char *)key->data.scalar.value);
		err = walk(reader, value, name, depth + 1);
		if (err)
			return err;
	}
	return 0;
}

static int read_document(struct reader *reader, yaml_parser_t *parser)
{
	yaml_document_t document;
	yaml_node_t *root;
	int err = 0;

	if (!yaml_parser_load(parser, &document))
		return complain(reader->path, parser->problem_mark.line + 1,
				parser->problem ? parser->problem : "not YAML");
	reader->document = &document;
	root = yaml_document_get_root_node(&document);
	/* An empty file is a configuration, too. */
	if (root && root->type == YAML_MAPPING_NODE)
		err = walk(reader, root, "", 0);
	else if (root)
		err = complain(reader->path, 1, "not a mapping");
	yaml_document_delete(&document);
	return err;
}

int yaml__read(const char *path, int (*take)(void *context, const struct yaml_entry *entry),
	       void *context)
{
	struct reader reader = {.path = path, .take = take, .context = context};
	FILE *file = fopen(path, "re");
	yaml_parser_t parser;
	int err;

	if (!file) {
		err = -errno;
		fprintf(stderr, "cuda-trace metrics: %s: %s\n", path, strerror(-err));
		return err;
	}
	if (!fseek(file, 0, SEEK_END) && ftell(file) > LARGEST_FILE) {
		fclose(file);
		return complain(path, 1, "far too large for a configuration");
	}
	rewind(file);
	if (!yaml_parser_initialize(&parser)) {
		fclose(file);
		return -ENOMEM;
	}
	yaml_parser_set_input_file(&parser, file);
	err = read_document(&reader, &parser);
	yaml_parser_delete(&parser);
	fclose(file);
	return err;
}
