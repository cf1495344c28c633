/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has opted in to have the agent in the CUDA programs that they start. The profile scripts in
 * etc/ look for the same files, and set CUDA_INJECTION64_PATH by them.
 */
#ifndef CUDA_TRACE_OPTIN_OPTIN_H
#define CUDA_TRACE_OPTIN_OPTIN_H

#include <limits.h>
#include <stdbool.h>

#define OPTIN_VARIABLE "CUDA_INJECTION64_PATH"
#define OPTIN_SYSTEM   "/etc/cuda-trace/enabled"
#define OPTIN_PROFILE  "/etc/profile.d/cuda-trace.sh"

enum optin_state { OPTIN_UNSET, OPTIN_ENABLED, OPTIN_DISABLED };

/* This user's file "enabled" or "disabled"; 0 or -ENOENT (no home). */
int optin__user_path(const char *name, char path[PATH_MAX]);
/* Disabled wins. */
enum optin_state optin__user(void);
bool optin__system(const char *root);
/* Is there such a path below root (NULL = "/")? */
bool optin__exists(const char *root, const char *path);
/* CUDA_TRACE=off, which wins over everything. */
bool optin__off(void);

/* The agent's file, "" when it is not installed; true if the loader finds it by its bare name. */
bool optin__agent(const char *root, char path[PATH_MAX]);
/* What CUDA_INJECTION64_PATH is to be: the bare name where that works, since it is the same on
 * every architecture; else the whole path. 0 or -ENOENT. */
int optin__value(const char *root, char value[PATH_MAX]);
/* Does this value of CUDA_INJECTION64_PATH mean our agent? */
bool optin__ours(const char *value);

#endif
