/* SPDX-License-Identifier: BSD-2-Clause */
/* Our declarations of CUPTI's parameter structures against NVIDIA's, field by field. The sizes are
 * compared as well: CUPTI distinguishes versions by them. */
#ifndef TESTS_AGENT_LAYOUT_SAME_H
#define TESTS_AGENT_LAYOUT_SAME_H

#include <stddef.h>

#include <cuda.h>
#include <cupti.h>

#define SAME_NUMBER(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
/* Of a structure that is no call's parameters, too. */
#define SAME_FIELD(ours, field, theirs, their_field)                                    \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) && \
			       sizeof(((struct ours *)0)->field) ==                     \
				       sizeof(((theirs *)0)->their_field),              \
		       #ours "." #field " is not " #theirs "." #their_field)
#define SAME(ours, field, theirs, their_field) SAME_FIELD(ours, field, theirs##_Params, their_field)
#define SAME_SIZE(ours, last, theirs)                                            \
	_Static_assert(CUPTI_SIZE_OF(ours, last) == theirs##_Params_STRUCT_SIZE, \
		       #ours " does not end as " #theirs)

#endif
