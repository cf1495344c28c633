/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the (type, name) pairs of a row of driver_calls.h or runtime_calls.h, so that one table
 * yields prototypes, parameter structures and wrappers and they cannot disagree.
 */
#ifndef TESTS_SIMCUDA_EACH_H
#define TESTS_SIMCUDA_EACH_H

/* clang-format off */
#define SIM_CAT_(a, b) a##b
#define SIM_CAT(a, b) SIM_CAT_(a, b)
#define SIM_NTH(a, b, c, d, e, f, g, h, i, j, k, n, ...) n
#define SIM_COUNT(...) SIM_NTH(__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

/* m is applied to each pair, s stands between them: SIM_COMMA or SIM_SEMICOLON. */
#define SIM_EACH(m, s, ...)       SIM_CAT(SIM_EACH_, SIM_COUNT(__VA_ARGS__))(m, s, __VA_ARGS__)
#define SIM_EACH_1(m, s, a)       m a
#define SIM_EACH_2(m, s, a, ...)  m a s() SIM_EACH_1(m, s, __VA_ARGS__)
#define SIM_EACH_3(m, s, a, ...)  m a s() SIM_EACH_2(m, s, __VA_ARGS__)
#define SIM_EACH_4(m, s, a, ...)  m a s() SIM_EACH_3(m, s, __VA_ARGS__)
#define SIM_EACH_5(m, s, a, ...)  m a s() SIM_EACH_4(m, s, __VA_ARGS__)
#define SIM_EACH_6(m, s, a, ...)  m a s() SIM_EACH_5(m, s, __VA_ARGS__)
#define SIM_EACH_7(m, s, a, ...)  m a s() SIM_EACH_6(m, s, __VA_ARGS__)
#define SIM_EACH_8(m, s, a, ...)  m a s() SIM_EACH_7(m, s, __VA_ARGS__)
#define SIM_EACH_9(m, s, a, ...)  m a s() SIM_EACH_8(m, s, __VA_ARGS__)
#define SIM_EACH_10(m, s, a, ...) m a s() SIM_EACH_9(m, s, __VA_ARGS__)
#define SIM_EACH_11(m, s, a, ...) m a s() SIM_EACH_10(m, s, __VA_ARGS__)
#define SIM_COMMA()               ,
#define SIM_SEMICOLON()           ;

#define SIM_DECLARE(type, name) type name
#define SIM_USE(type, name)     name

#define SIM_PARAMETERS(...) SIM_EACH(SIM_DECLARE, SIM_COMMA, __VA_ARGS__)
#define SIM_FIELDS(...)     SIM_EACH(SIM_DECLARE, SIM_SEMICOLON, __VA_ARGS__);
#define SIM_ARGUMENTS(...)  SIM_EACH(SIM_USE, SIM_COMMA, __VA_ARGS__)
/* clang-format on */

#endif
