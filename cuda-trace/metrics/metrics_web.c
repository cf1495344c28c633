// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the web configuration, checks users against bcrypt hashes. Opened by the command; checks
 * come from the HTTP server's threads, hence the locks.
 */
#include "cuda-trace/metrics/metrics_web.h"

#include <crypt.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cuda-trace/metrics/metrics_yaml.h"

#define MAX_PAIRS    64
#define MAX_VERIFIED 32
#define LONGEST	     256

struct pair {
	char *name;
	char *value;
};

/* What one reading of the file gave. */
struct content {
	char *certificate;
	char *key;
	int min_tls;
	struct pair users[MAX_PAIRS];
	int user_count;
	struct pair headers[MAX_PAIRS];
	int header_count;
};

struct web_config {
	char path[PATH_MAX];
	struct stat seen;
	bool broken;
	unsigned int generation; /* of content */
	pthread_mutex_t lock;
	struct content content;
	/* Pairs that were right: scrapes come every few seconds, and bcrypt costs 50 ms and more.
	 */
	struct pair verified[MAX_VERIFIED];
	int verified_next;
};

static void free_pairs(struct pair *pairs, int count)
{
	for (int i = 0; i < count; i++) {
		free(pairs[i].name);
		if (pairs[i].value)
			explicit_bzero(pairs[i].value, strlen(pairs[i].value));
		free(pairs[i].value);
		pairs[i] = (struct pair){};
	}
}

static void free_content(struct content *content)
{
	free(content->certificate);
	if (content->key)
		explicit_bzero(content->key, strlen(content->key));
	free(content->key);
	free_pairs(content->users, content->user_count);
	free_pairs(content->headers, content->header_count);
	memset(content, 0, sizeof(*content));
}

/* Relative names are relative to the configuration's folder, as in exporter-toolkit. */
static char *read_pem(const char *config, const char *name)
{
	char whole[2 * PATH_MAX], copy[PATH_MAX], *text;
	FILE *file;
	size_t size;

	snprintf(copy, sizeof(copy), "%s", config);
	if (*name == '/')
		snprintf(whole, sizeof(whole), "%s", name);
	else
		snprintf(whole, sizeof(whole), "%s/%s", dirname(copy), name);
	file = fopen(whole, "re");
	if (!file)
		return NULL;
	text = calloc(1, 65536);
	size = text ? fread(text, 1, 65535, file) : 0;
	fclose(file);
	if (size)
		return text;
	free(text);
	errno = ENODATA;
	return NULL;
}

static int bad(const char *path, int line, const char *what, const char *which)
{
	fprintf(stderr, "cuda-trace metrics: %s:%d: %s%s%s\n", path, line, what, *which ? ": " : "",
		which);
	return -EINVAL;
}

static int parse_tls(struct content *content, const char *path, const struct yaml_entry *entry)
{
	static const char *const versions[] = {"TLS10", "TLS11", "TLS12", "TLS13"};
	char **pem = NULL;

	if (!strcmp(entry->key, "cert_file"))
		pem = &content->certificate;
	else if (!strcmp(entry->key, "key_file"))
		pem = &content->key;
	if (pem) {
		free(*pem);
		*pem = read_pem(path, entry->value);
		return *pem ? 0 : bad(path, entry->line, strerror(errno), entry->value);
	}
	if (!strcmp(entry->key, "min_version")) {
		for (int i = 0; i < 4; i++)
			if (!strcmp(entry->value, versions[i])) {
				content->min_tls = 10 + i;
				return 0;
			}
		return bad(path, entry->line, "no such TLS version", entry->value);
	}
	if (!strcmp(entry->key, "client_auth_type") && !strcmp(entry->value, "NoClientCert"))
		return 0;
	return bad(path, entry->line, "not supported in tls_server_config", entry->key);
}

static int add_pair(struct pair *pairs, int *count, const struct yaml_entry *entry)
{
	if (*count == MAX_PAIRS)
		return -E2BIG;
	pairs[*count].name = strdup(entry->key);
	pairs[*count].value = strdup(entry->value);
	if (!pairs[*count].name || !pairs[*count].value)
		return -ENOMEM;
	(*count)++;
	return 0;
}

/* $2y$10$ and 53 characters, as crypt(5) has it. */
static bool is_bcrypt(const char *hash)
{
	static const char digits[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	return strlen(hash) == 60 && !strncmp(hash, "$2", 2) && hash[2] && strchr("aby", hash[2]) &&
	       hash[3] == '$' && strspn(hash + 4, "0123456789") == 2 && hash[6] == '$' &&
	       strspn(hash + 7, digits) == 53;
}

static int parse_user(struct content *content, const char *path, const struct yaml_entry *entry)
{
	int err;

	if (!is_bcrypt(entry->value))
		return bad(path, entry->line, "not a bcrypt hash (htpasswd -nBC 10 NAME makes one)",
			   entry->key);
	err = add_pair(content->users, &content->user_count, entry);
	return err ? bad(path, entry->line, strerror(-err), "basic_auth_users") : 0;
}

static int parse_header(struct content *content, const char *path, const struct yaml_entry *entry)
{
	static const char *const allowed[] = {
		"Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
		"X-Frame-Options",	   "X-XSS-Protection",
	};
	int err;

	if (strpbrk(entry->value, "\r\n"))
		return bad(path, entry->line, "line break in a header", entry->key);
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (!strcasecmp(entry->key, allowed[i])) {
			err = add_pair(content->headers, &content->header_count, entry);
			return err ? bad(path, entry->line, strerror(-err), "headers") : 0;
		}
	return bad(path, entry->line, "header not allowed", entry->key);
}

struct reading {
	struct content *content;
	const char *path;
};

static int parse_entry(void *context, const struct yaml_entry *entry)
{
	struct reading *reading = context;

	if (!strcmp(entry->section, "tls_server_config"))
		return parse_tls(reading->content, reading->path, entry);
	if (!strcmp(entry->section, "basic_auth_users"))
		return parse_user(reading->content, reading->path, entry);
	if (!strcmp(entry->section, "http_server_config.headers"))
		return parse_header(reading->content, reading->path, entry);
	/* HTTP/2 is only ever an offer. */
	if (!strcmp(entry->section, "http_server_config") && !strcmp(entry->key, "http2"))
		return 0;
	return bad(reading->path, entry->line, "not supported",
		   *entry->section ? entry->section : entry->key);
}

static int read_content(const char *path, struct content *content)
{
	struct reading reading = {content, path};
	int err;

	content->min_tls = 12;
	err = yaml__read(path, parse_entry, &reading);
	if (!err && !content->certificate != !content->key)
		err = bad(path, 1, "cert_file and key_file belong together", "tls_server_config");
	if (err)
		free_content(content);
	return err;
}

struct web_config *web_config__open(const char *path)
{
	struct web_config *config = calloc(1, sizeof(*config));

	if (!config)
		return NULL;
	snprintf(config->path, sizeof(config->path), "%s", path);
	pthread_mutex_init(&config->lock, NULL);
	stat(path, &config->seen);
	if (!read_content(path, &config->content))
		return config;
	web_config__close(config);
	return NULL;
}

void web_config__close(struct web_config *config)
{
	if (!config)
		return;
	free_content(&config->content);
	free_pairs(config->verified, MAX_VERIFIED);
	pthread_mutex_destroy(&config->lock);
	free(config);
}

const char *web_config__certificate(const struct web_config *config)
{
	return config->content.certificate;
}

const char *web_config__key(const struct web_config *config)
{
	return config->content.key;
}

int web_config__min_tls(const struct web_config *config)
{
	return config->content.min_tls;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool web_config__refresh(struct web_config *config)
{
	struct content fresh = {};
	struct stat now = {};
	bool usable;

	pthread_mutex_lock(&config->lock);
	if (stat(config->path, &now))
		memset(&now, 0, sizeof(now));
	if (!is_same(&now, &config->seen)) {
		config->seen = now;
		config->broken = read_content(config->path, &fresh);
		if (!config->broken) {
			/* The running server holds the certificate that it began with. */
			free_content(&config->content);
			config->content = fresh;
			config->generation++;
			free_pairs(config->verified, MAX_VERIFIED);
		}
	}
	usable = !config->broken;
	pthread_mutex_unlock(&config->lock);
	return usable;
}

/* Takes as long for a wrong text as for a right one of the same length. */
static bool is_equal(const char *a, const char *b)
{
	size_t length = strlen(a);
	unsigned char difference = 0;

	if (length != strlen(b))
		return false;
	for (size_t i = 0; i < length; i++)
		difference |= a[i] ^ b[i];
	return !difference;
}

/* bcrypt reads no more of a password. */
#define HASHED_BYTES 72

/* The user's right password was seen, and there is one only. */
static bool is_refuted(struct web_config *config, const char *user, const char *password)
{
	for (int i = 0; i < MAX_VERIFIED; i++)
		if (config->verified[i].name && !strcmp(config->verified[i].name, user) &&
		    strncmp(config->verified[i].value, password, HASHED_BYTES) != 0)
			return true;
	return false;
}

static bool is_verified(struct web_config *config, const char *user, const char *password)
{
	for (int i = 0; i < MAX_VERIFIED; i++)
		if (config->verified[i].name && !strcmp(config->verified[i].name, user) &&
		    is_equal(config->verified[i].value, password))
			return true;
	return false;
}

static void remember(struct web_config *config, const char *user, const char *password)
{
	struct pair *place = &config->verified[config->verified_next++ % MAX_VERIFIED];

	free_pairs(place, 1);
	place->name = strdup(user);
	place->value = strdup(password);
	if (!place->name || !place->value)
		free_pairs(place, 1);
}

/* Of nobody, so that an unknown user takes as long as a known one. */
static const char nobody[] = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";

static bool find_hash(struct web_config *config, const char *user, char hash[64])
{
	snprintf(hash, 64, "%s", nobody);
	for (int i = 0; i < config->content.user_count; i++)
		if (!strcmp(config->content.users[i].name, user)) {
			snprintf(hash, 64, "%s", config->content.users[i].value);
			return true;
		}
	return false;
}

static bool is_right(const char *password, const char *hash)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	const char *made = data ? crypt_r(password, hash, data) : NULL;
	bool right = made && is_equal(made, hash);

	if (data)
		explicit_bzero(data, sizeof(*data));
	free(data);
	return right;
}

static enum web_answer look_up(struct web_config *config, const char *user, const char *password)
{
	if (!config->content.user_count)
		return WEB_ALLOWED;
	if (!user || !password || strlen(user) > LONGEST || strlen(password) > LONGEST)
		return WEB_DENIED;
	return is_verified(config, user, password) ? WEB_ALLOWED : WEB_UNKNOWN;
}

enum web_answer web_config__lookup(struct web_config *config, const char *user,
				   const char *password)
{
	enum web_answer answer;

	pthread_mutex_lock(&config->lock);
	answer = look_up(config, user, password);
	pthread_mutex_unlock(&config->lock);
	return answer;
}

enum web_answer web_config__check(struct web_config *config, const char *user, const char *password)
{
	enum web_answer answer;
	unsigned int generation;
	bool known, changed;
	char hash[64];

	pthread_mutex_lock(&config->lock);
	answer = look_up(config, user, password);
	if (answer == WEB_UNKNOWN && is_refuted(config, user, password))
		answer = WEB_DENIED;
	known = answer == WEB_UNKNOWN && find_hash(config, user, hash);
	generation = config->generation;
	pthread_mutex_unlock(&config->lock);
	if (answer != WEB_UNKNOWN)
		return answer;
	if (!is_right(password, hash) || !known)
		return WEB_DENIED;
	pthread_mutex_lock(&config->lock);
	/* Who was let in by a file that is gone by now may not be in the next one. */
	changed = generation != config->generation;
	if (!changed)
		remember(config, user, password);
	pthread_mutex_unlock(&config->lock);
	return changed ? WEB_BUSY : WEB_ALLOWED;
}

void web_config__each_header(struct web_config *config,
			     void (*each)(void *context, const char *name, const char *value),
			     void *context)
{
	pthread_mutex_lock(&config->lock);
	for (int i = 0; i < config->content.header_count; i++)
		each(context, config->content.headers[i].name, config->content.headers[i].value);
	pthread_mutex_unlock(&config->lock);
}
