/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subcommands: one file each, dispatched by the table in main.c. Each returns the exit status.
 */
#ifndef CUDA_TRACE_COMMANDS_COMMANDS_H
#define CUDA_TRACE_COMMANDS_COMMANDS_H

#include "cuda-trace/base/exit_status.h"

int cmd_trace(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_enable(int argc, char **argv);
int cmd_disable(int argc, char **argv);
int cmd_status(int argc, char **argv);

#endif
