// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replaces the address of _exit() in the global offset tables of the modules that import it. No
 * code is changed, and the modules' own calls stay as they are: they only arrive here first.
 * Installed at the first activation, so that a process that is never traced keeps its tables.
 *
 * Failure modes: 1. a table that the loader has made read-only: it is written through
 * /proc/self/mem, because mprotect() would race with the loader, which may be relocating that
 * module; where that file cannot be written, the table stays as it is. 2. a table that was not
 * bound yet: what was in it is the loader's stub, and to call that is to call the function.
 * 3. _exit() in a child of vfork(), which has our memory: `finish` compares the pid. 4. _exit() in
 * a signal handler: `finish` takes no locks and its waits are bounded, as at any exit. 5. a module
 * that is loaded later, exit_group() as a system call, signals: not hooked. The tool counts such a
 * process as one that ended without reporting it.
 */
#include "libcupti-usdt/control/exit_hook.h"

#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define IS_IMPORT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_IMPORT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#endif

typedef void (*exit_function)(int status);

struct module {
	ElfW(Addr) base, end;		   /* its segments lie in between */
	ElfW(Addr) relro_start, relro_end; /* read-only once it is relocated */
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t strings_size;
	const uint32_t *gnu_hash;
	const ElfW(Rela) * tables[2];
	size_t counts[2];
};

static void (*finish)(void);
static _Atomic(exit_function) original;

static void hooked_exit(int status)
{
	exit_function before = atomic_load(&original);

	finish();
	if (before)
		before(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

/* Some loaders relocate these addresses in place, and some do not. */
static const void *address_in(const struct module *module, ElfW(Addr) address)
{
	if (address < module->base)
		address += module->base;
	return address >= module->base && address < module->end ? (const void *)address : NULL;
}

static void read_dynamic(struct module *module, const ElfW(Dyn) * dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		ElfW(Addr) value = dynamic->d_un.d_val;

		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			module->symbols = address_in(module, value);
			break;
		case DT_STRTAB:
			module->strings = address_in(module, value);
			break;
		case DT_STRSZ:
			module->strings_size = value;
			break;
		case DT_GNU_HASH:
			module->gnu_hash = address_in(module, value);
			break;
		case DT_RELA:
			module->tables[0] = address_in(module, value);
			break;
		case DT_RELASZ:
			module->counts[0] = value / sizeof(ElfW(Rela));
			break;
		case DT_JMPREL:
			module->tables[1] = address_in(module, value);
			break;
		case DT_PLTRELSZ:
			module->counts[1] = value / sizeof(ElfW(Rela));
			break;
		}
	}
}

static void read_segments(struct module *module, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;

	*module = (struct module){.base = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		ElfW(Addr) start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && start + segment->p_memsz > module->end)
			module->end = start + segment->p_memsz;
		if (segment->p_type == PT_DYNAMIC)
			dynamic = (const void *)start;
		if (segment->p_type == PT_GNU_RELRO) {
			module->relro_start = start;
			module->relro_end = start + segment->p_memsz;
		}
	}
	if (dynamic)
		read_dynamic(module, dynamic);
}

static bool is_exit(const struct module *module, uint32_t index)
{
	size_t name = module->symbols[index].st_name;

	return name + sizeof("_exit") <= module->strings_size &&
	       (!memcmp(module->strings + name, "_exit", sizeof("_exit")) ||
		!memcmp(module->strings + name, "_Exit", sizeof("_Exit")));
}

/* Imports come before all that the hash table knows: few modules have this one, and only their
 * relocations, of which there may be millions, are read. A program that exports nothing has an
 * empty table, which says 1. */
static bool imports_exit(const struct module *module)
{
	uint32_t first_hashed = module->gnu_hash[1];

	if (first_hashed <= 1)
		return true;
	for (uint32_t i = 1; i < first_hashed; i++)
		if (module->symbols[i].st_shndx == SHN_UNDEF && is_exit(module, i))
			return true;
	return false;
}

static void write_slot(const struct module *module, _Atomic(exit_function) *slot)
{
	exit_function before = atomic_load(slot), hook = hooked_exit, nobody = NULL;
	ElfW(Addr) at = (ElfW(Addr))slot;
	int memory;

	if (before == hooked_exit || !before)
		return;
	/* First, as another thread may come through the slot at once. */
	atomic_compare_exchange_strong(&original, &nobody, before);
	if (at < module->relro_start || at >= module->relro_end) {
		atomic_store(slot, hook);
		return;
	}
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (memory < 0)
		return;
	if (pwrite(memory, &hook, sizeof(hook), at) < 0) {
		/* It stays as it is. */
	}
	close(memory);
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct module module;

	read_segments(&module, info);
	if (!module.symbols || !module.strings || !module.gnu_hash || !imports_exit(&module))
		return 0;
	for (int table = 0; table < 2; table++) {
		const ElfW(Rela) *relocation = module.tables[table];

		for (size_t i = 0; relocation && i < module.counts[table]; i++, relocation++)
			if (IS_IMPORT(ELF64_R_TYPE(relocation->r_info)) &&
			    is_exit(&module, ELF64_R_SYM(relocation->r_info)))
				write_slot(&module,
					   (void *)(info->dlpi_addr + relocation->r_offset));
	}
	return 0;
}

void exit_hook__prepare(void (*function)(void))
{
	finish = function;
}

void exit_hook__install(void)
{
	static bool installed;

	if (!finish || installed)
		return;
	installed = true;
	dl_iterate_phdr(look_at_module, NULL);
}
