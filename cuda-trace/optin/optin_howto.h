/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where no login shell sets the environment: what to write into which file, as plain text.
 */
#ifndef CUDA_TRACE_OPTIN_OPTIN_HOWTO_H
#define CUDA_TRACE_OPTIN_OPTIN_HOWTO_H

#define HOWTO_TOPICS "slurm,cron,docker,kubernetes,desktop,zsh"

/* Prints the text about one of the topics; 0, or -ENOENT. */
int howto__print(const char *topic);

#endif
