/* SPDX-License-Identifier: BSD-2-Clause */
/* Which kernels a regular expression means, by their mangled names. */
#ifndef LIBCUPTI_USDT_PROFILE_KERNEL_CHOICE_H
#define LIBCUPTI_USDT_PROFILE_KERNEL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name that people use for it: of _ZN2at6native4copyILi4EEvPf that is at::native::copy, without
 * template arguments and parameters. What is not such a name is taken as it is.
 */
void kernel_choice__plain_name(const char *mangled, char *name, size_t size);
/* NULL: every kernel is meant. False if it is no regular expression. Before the
 * next, which nobody calls meanwhile. */
bool kernel_choice__compile(const char *expression);
/* The expression is found in the plain name or in the mangled one. Allocates: once a kernel. */
bool kernel_choice__matches(const char *mangled);
/* The same, and remembered by name. NULL: a kernel without a name. */
bool kernel_choice__takes(const char *symbol);

#endif
