// SPDX-License-Identifier: BSD-2-Clause
/*
 * A power cut for the recorder: linked into the feeder in place of the calls that change files
 * (build.mk: --wrap). It remembers what a sync has made safe. At the wanted moment it leaves, in
 * the folder $POWERCUT_DISK, what a disk might hold then: what was synced, of the rest a random
 * part of its pages, and of what was done to names since the folder's last sync a random part.
 * POWERCUT_AT: "ms:N" after the first change, "file:N" after N changes since the finished file was
 * begun, "end". unset = never. All files lie in one folder. POWERCUT_SEED: a number.
 * On stdout: "cut ns=CLOCK_MONOTONIC longest_sync_ns=N complete=0|1", 1 = all was recorded and only
 * the finished file is still being made.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES	 16
#define PENDING	 64
#define WRITES	 65536
#define PAGE	 4096
#define NS_PER_S 1000000000ull

/* A file by what it holds, whatever its name is. */
struct content {
	int keeper;  /* a descriptor of it */
	bool logged; /* its writes pass here; else it is safe or not as a whole */
	bool safe;
	struct span {
		off_t offset;
		size_t length;
		bool safe;
	} * writes;
	int write_count;
};

/* Something done to a name, not yet safe: `file` < 0 takes it away. */
struct change {
	char path[256], gone[256]; /* gone: the other name of a rename, which is one change */
	int file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct content files[FILES];
static int file_count;
static struct change names[FILES * 2], pending[PENDING];
static int name_count, pending_count;
static uint64_t ops, begun, longest_sync; /* ops: since the finished file was begun */
static bool complete;
static unsigned int seed = 1;

int __real_open(const char *path, int flags, ...);
ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);
int __real_fdatasync(int fd);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __wrap_open(const char *path, int flags, ...);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
int __wrap_fdatasync(int fd);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_unlink(const char *path);

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static bool toss(void)
{
	return rand_r(&seed) >> 8 & 1;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void set_name(const char *path, int file)
{
	int i = 0;

	while (i < name_count && strcmp(names[i].path, path))
		i++;
	snprintf(names[i].path, sizeof(names[i].path), "%s", path);
	names[i].file = file;
	name_count += i == name_count;
}

static void apply(const struct change *change)
{
	set_name(change->path, change->file);
	if (*change->gone)
		set_name(change->gone, -1);
}

static void change_name(const char *path, int file, const char *gone)
{
	struct change *change = &pending[pending_count++];

	if (pending_count == PENDING)
		abort();
	snprintf(change->path, sizeof(change->path), "%s", base_of(path));
	snprintf(change->gone, sizeof(change->gone), "%s", base_of(gone));
	change->file = file;
}

/* Which file a name means now, safe or not. */
static int file_named(const char *path)
{
	path = base_of(path);
	for (int i = pending_count - 1; i >= 0; i--)
		if (!strcmp(pending[i].path, path))
			return pending[i].file;
	for (int i = 0; i < name_count; i++)
		if (!strcmp(names[i].path, path))
			return names[i].file;
	return -1;
}

static int file_of(int fd)
{
	struct stat a, b;

	for (int i = 0; i < file_count; i++)
		if (!fstat(fd, &a) && !fstat(files[i].keeper, &b) && a.st_ino == b.st_ino)
			return i;
	return -1;
}

static void copy(int from, int to, off_t offset, size_t length)
{
	static char buffer[PAGE];
	ssize_t n;

	for (; length; offset += n, length -= n) {
		n = pread(from, buffer, length < PAGE ? length : PAGE, offset);
		if (n <= 0 || __real_pwrite(to, buffer, n, offset) != n)
			return;
	}
}

/* Pages of it, each with the chance of a coin. */
static void copy_some(int from, int to, off_t offset, size_t length)
{
	for (size_t at = 0, n; at < length; at += n) {
		n = PAGE - (offset + at) % PAGE;
		n = n < length - at ? n : length - at;
		if (toss())
			copy(from, to, offset + at, n);
	}
}

static void leave_file(const struct change *name)
{
	const struct content *file = &files[name->file];
	char path[512];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv("POWERCUT_DISK"), name->path);
	fd = __real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || fstat(file->keeper, &st))
		abort();
	for (int i = 0; i < file->write_count; i++)
		(file->writes[i].safe ? copy : copy_some)(file->keeper, fd, file->writes[i].offset,
							  file->writes[i].length);
	if (!file->logged)
		(file->safe ? copy : copy_some)(file->keeper, fd, 0, st.st_size);
	close(fd);
}

static void cut(void)
{
	printf("cut ns=%" PRIu64 " longest_sync_ns=%" PRIu64 " complete=%d\n", now_ns(),
	       longest_sync, complete);
	for (int i = 0; i < pending_count; i++)
		if (toss())
			apply(&pending[i]);
	for (int i = 0; i < name_count; i++)
		if (names[i].file >= 0)
			leave_file(&names[i]);
	fflush(stdout);
	_exit(0);
}

static void *wait_for_cut(void *arg)
{
	usleep(atoi(arg) * 1000);
	pthread_mutex_lock(&lock);
	cut();
	return NULL;
}

/* Before each change, with the lock held. */
static void op(void)
{
	static const char *at;
	pthread_t thread;

	if (!begun) {
		begun = now_ns();
		at = getenv("POWERCUT_AT");
		seed = getenv("POWERCUT_SEED") ? atoi(getenv("POWERCUT_SEED")) : 1;
		if (at && !strncmp(at, "ms:", 3))
			pthread_create(&thread, NULL, wait_for_cut, (void *)(at + 3));
	}
	if (at && complete && !strncmp(at, "file:", 5) && ops == strtoull(at + 5, NULL, 0))
		cut();
	ops += complete;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list list;
	int mode, fd;

	va_start(list, flags);
	mode = flags & O_CREAT ? va_arg(list, int) : 0;
	va_end(list);
	if (!(flags & O_CREAT))
		return __real_open(path, flags, mode);
	pthread_mutex_lock(&lock);
	op();
	fd = __real_open(path, flags, mode);
	if (fd >= 0 && file_count < FILES) {
		struct content *file = &files[file_count];

		*file = (struct content){.keeper = __real_open(path, O_RDONLY | O_CLOEXEC)};
		/* The finished file is SQLite's to write. */
		file->logged = strstr(path, ".part") != NULL;
		file->writes = file->logged ? calloc(WRITES, sizeof(*file->writes)) : NULL;
		complete |= !file->logged;
		change_name(path, file_count++, "");
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	ssize_t n;
	int file;

	pthread_mutex_lock(&lock);
	op();
	n = __real_pwrite(fd, data, size, offset);
	file = file_of(fd);
	if (n > 0 && file >= 0 && files[file].write_count < WRITES)
		files[file].writes[files[file].write_count++] = (struct span){offset, n, false};
	pthread_mutex_unlock(&lock);
	return n;
}

static int sync_file(int fd, int (*real)(int fd))
{
	uint64_t begin;
	int file, writes, result;
	struct stat st;

	pthread_mutex_lock(&lock);
	op();
	file = file_of(fd);
	writes = file < 0 ? 0 : files[file].write_count;
	begin = now_ns();
	pthread_mutex_unlock(&lock);
	result = real(fd);
	pthread_mutex_lock(&lock);
	if (now_ns() - begin > longest_sync)
		longest_sync = now_ns() - begin;
	for (int i = 0; i < writes && !result; i++)
		files[file].writes[i].safe = true;
	if (file >= 0 && !result)
		files[file].safe = true;
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		for (int i = 0; i < pending_count; i++)
			apply(&pending[i]);
		pending_count = 0;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

int __wrap_fdatasync(int fd)
{
	return sync_file(fd, __real_fdatasync);
}

int __wrap_fsync(int fd)
{
	return sync_file(fd, __real_fsync);
}

int __wrap_rename(const char *from, const char *to)
{
	int result;

	pthread_mutex_lock(&lock);
	op();
	result = __real_rename(from, to);
	if (!result)
		change_name(to, file_named(from), from);
	pthread_mutex_unlock(&lock);
	return result;
}

int __wrap_unlink(const char *path)
{
	int result;

	pthread_mutex_lock(&lock);
	op();
	result = __real_unlink(path);
	if (!result)
		change_name(path, -1, "");
	pthread_mutex_unlock(&lock);
	return result;
}

/* The last moment is after the last change. */
__attribute__((destructor)) static void end(void)
{
	const char *at = getenv("POWERCUT_AT");

	if (at && !strcmp(at, "end"))
		cut();
}
