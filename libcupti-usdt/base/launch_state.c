// SPDX-License-Identifier: BSD-2-Clause
#include "libcupti-usdt/base/launch_state.h"

_Static_assert(sizeof(struct hot) == 64, "one line");

struct hot hot = {.detours = DETOUR_GROUPS | DETOUR_NO_KEY};
