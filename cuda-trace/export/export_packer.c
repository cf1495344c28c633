// SPDX-License-Identifier: BSD-2-Clause
#include "cuda-trace/export/export_packer.h"

static void put_byte(struct packer *packer, uint8_t byte)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *b = packer->bytes;

	packer->bytes[packer->count++] = byte;
	if (packer->count < 3)
		return;
	putc_unlocked(digits[b[0] >> 2], packer->out);
	putc_unlocked(digits[(b[0] & 3) << 4 | b[1] >> 4], packer->out);
	putc_unlocked(digits[(b[1] & 15) << 2 | b[2] >> 6], packer->out);
	putc_unlocked(digits[b[2] & 63], packer->out);
	packer->count = 0;
}

void packer__number(struct packer *packer, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		put_byte(packer, number | 0x80);
	put_byte(packer, number);
}

void packer__signed(struct packer *packer, int64_t number)
{
	packer__number(packer, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

void packer__end(struct packer *packer)
{
	while (packer->count)
		put_byte(packer, 0);
}
