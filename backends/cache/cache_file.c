/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes cache files. Format: struct head, the text of the key, then an array of
 * struct cache_entry. The file is named by a hash of the key; comparing the key in the file
 * detects a collision. */
#include "backends/cache/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "backends/cache/cache_folder.h"
#include "backends/plugin/reason.h"
#include "backends/primitive.h"
#include "support/arena.h"
#include "support/hash.h"
#include "support/text.h"

#include "support/banned.h"

#define MAGIC         "cmtimes\n"
#define SUFFIX        ".times"
#define FORMAT        1
#define LOCK_ATTEMPTS 200 /* 10 ms apart, 2 s in all; another writer needs far less */

struct head {
    char magic[8];
    uint32_t format;
    uint32_t entry_size;
    uint32_t key_size;
    uint32_t n_entries;
    uint64_t sum; /* hash_bytes of all bytes after the header */
};

struct cache_file cache_file_at(const char *folder, const char *key, bool invented,
                                struct arena *arena) {
    const unsigned long long name = hash_bytes(HASH_BYTES_BEGIN, key, strlen(key));
    return (struct cache_file){.folder = folder,
                               .path = arena_printf(arena, "%s/%016llx" SUFFIX, folder, name),
                               .key = key,
                               .invented = invented};
}

static bool is_time(const struct cm_timing *timing) {
    return isfinite(timing->median) && timing->median > 0 && isfinite(timing->q1) &&
           isfinite(timing->q3) && isfinite(timing->min) && isfinite(timing->max) &&
           timing->n_samples > 0 && timing->per_sample > 0;
}

bool cache_keeps(const struct cm_measurement *measurement, bool invented) {
    const bool ran = measurement->state == CM_MEASURED || measurement->state == CM_PROXY ||
                     (invented && measurement->state == CM_INVENTED);
    const uint32_t doubts = CM_FLAG_UNSTABLE | CM_FLAG_THROTTLED;
    return ran && (measurement->flags & doubts) == 0 && is_time(&measurement->cold) &&
           is_time(&measurement->warm);
}

int cache_list_add(struct cache_list *list, const struct cache_entry *entry,
                   struct arena *arena) {
    struct cache_entry **items =
        arena_grow(arena, list->items, list->n, &list->capacity, sizeof(struct cache_entry *));
    if (items == NULL) return CM_BACKEND_NO_MEMORY;
    list->items = items;
    list->items[list->n] = arena_copy(arena, entry, sizeof(*entry));
    if (list->items[list->n] == NULL) return CM_BACKEND_NO_MEMORY;
    list->n++;
    return CM_BACKEND_OK;
}

const struct cache_entry *cache_list_find(const struct cache_list *list,
                                          const struct cm_primitive *primitive) {
    for (size_t i = 0; i < list->n; i++)
        if (primitive_equal(&list->items[i]->primitive, primitive)) return list->items[i];
    return NULL;
}

static bool read_whole(int fd, void *data, size_t size) {
    char *bytes = data;
    while (size > 0) {
        const ssize_t got = read(fd, bytes, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes += got;
        size -= (size_t)got;
    }
    return true;
}

static bool write_whole(int fd, const void *data, size_t size) {
    const char *bytes = data;
    while (size > 0) {
        const ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        size -= (size_t)put;
    }
    return true;
}

static bool is_text(const char *text, size_t size) {
    return memchr(text, '\0', size) != NULL;
}

static bool is_how(const struct cm_how *how) {
    bool whole = how->n_kernels >= 0 && is_text(how->provider, sizeof(how->provider)) &&
                 is_text(how->algorithm, sizeof(how->algorithm));
    for (int i = 0; i < CM_MAX_KERNELS; i++)
        whole = whole && is_text(how->kernels[i].name, sizeof(how->kernels[i].name)) &&
                is_text(how->kernels[i].rule, sizeof(how->kernels[i].rule)) &&
                isfinite(how->kernels[i].seconds) && how->kernels[i].seconds >= 0;
    return whole;
}

/* Returns true if all fields of an entry are in range. The checksum detects damage; these
 * checks also hold for a forged file. */
static bool is_entry(const struct cache_file *file, const struct cache_entry *entry) {
    struct cm_reason reason;
    const struct cm_measurement *measurement = &entry->measurement;
    return entry->when > 0 && entry->when <= (int64_t)time(NULL) + 86400 &&
           primitive_check(&entry->primitive, &reason) == CM_BACKEND_OK &&
           cache_keeps(measurement, file->invented) && isfinite(measurement->drift) &&
           is_how(&measurement->how) && is_text(measurement->reason.text, CM_REASON_SIZE) &&
           is_text(measurement->clocks.throttle, sizeof(measurement->clocks.throttle));
}

/* Returns a static text with the fault; NULL if the header is valid. */
static const char *check_head(const struct cache_file *file, const struct head *head,
                              int64_t size) {
    if (memcmp(head->magic, MAGIC, sizeof(head->magic)) != 0) return "it is not a cache file";
    if (head->format != FORMAT || head->entry_size != sizeof(struct cache_entry))
        return "another version wrote it";
    if (head->key_size != strlen(file->key))
        return "it was written for another device or other settings";
    if (head->n_entries > CACHE_MAX_ENTRIES) return "it has too many entries";
    const int64_t want = (int64_t)sizeof(*head) + head->key_size +
                         (int64_t)head->n_entries * (int64_t)sizeof(struct cache_entry);
    return size == want ? NULL : "it is incomplete";
}

static const char *check_body(const struct cache_file *file, const struct head *head,
                              const char *body, size_t size) {
    if (hash_bytes(HASH_BYTES_BEGIN, body, size) != head->sum) return "its checksum is wrong";
    return memcmp(body, file->key, head->key_size) == 0
               ? NULL
               : "it was written for another device or other settings";
}

static int list_entries(const struct cache_file *file, const struct head *head,
                        const char *body, struct arena *arena, struct cache_list *ret) {
    struct cache_entry entry;
    for (uint32_t i = 0; i < head->n_entries; i++) {
        memcpy(&entry, body + head->key_size + i * sizeof(entry), sizeof(entry));
        if (!is_entry(file, &entry)) continue;
        if (cache_list_add(ret, &entry, arena) != CM_BACKEND_OK) return CM_BACKEND_NO_MEMORY;
    }
    return CM_BACKEND_OK;
}

/* Adds the valid entries of the file to *ret. Sets *ret_why to the reason if the file is
 * ignored, else to NULL. */
static int read_open(const struct cache_file *file, int fd, struct arena *arena,
                     struct cache_list *ret, const char **ret_why) {
    struct stat status;
    struct head head;
    *ret_why = "it cannot be read";
    if (fstat(fd, &status) != 0) return CM_BACKEND_OK;
    *ret_why = cache_folder_doubt(&status);
    if (*ret_why != NULL) return CM_BACKEND_OK;
    *ret_why = "it is not a regular file";
    if (!S_ISREG(status.st_mode)) return CM_BACKEND_OK;
    *ret_why = "it is incomplete";
    if (!read_whole(fd, &head, sizeof(head))) return CM_BACKEND_OK;
    *ret_why = check_head(file, &head, (int64_t)status.st_size);
    if (*ret_why != NULL) return CM_BACKEND_OK;
    const size_t size = (size_t)status.st_size - sizeof(head);
    char *body = arena_alloc(arena, size);
    if (body == NULL) return CM_BACKEND_NO_MEMORY;
    *ret_why = "it cannot be read";
    if (!read_whole(fd, body, size)) return CM_BACKEND_OK;
    *ret_why = check_body(file, &head, body, size);
    return *ret_why != NULL ? CM_BACKEND_OK : list_entries(file, &head, body, arena, ret);
}

int cache_file_read(const struct cache_file *file, struct arena *arena, struct cache_list *ret,
                    struct cm_reason *note) {
    const char *why = NULL;
    /* O_NONBLOCK: opening a FIFO must not block. */
    const int fd = open(file->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return CM_BACKEND_OK;
    if (fd < 0) return reason_fail(note, CM_BACKEND_OK, "%s", strerror(errno));
    const int status = read_open(file, fd, arena, ret, &why);
    (void)close(fd);
    if (why != NULL) (void)reason_fail(note, 0, "%s", why);
    return status;
}

int cache_file_lock(const struct cache_file *file, struct cm_reason *reason) {
    char path[CACHE_LONGEST_PATH];
    const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const struct timespec pause = {0, 10000000};
    if (cache_folder_make(file->folder, reason) != CM_BACKEND_OK) return -1;
    if ((size_t)snprintf(path, sizeof(path), "%s/lock", file->folder) >= sizeof(path))
        return reason_fail(reason, -1, "%s", strerror(ENAMETOOLONG));
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return reason_fail(reason, -1, "%s", strerror(errno));
    for (int i = 0; i < LOCK_ATTEMPTS; i++) {
        if (fcntl(fd, F_SETLK, &whole) == 0) return fd;
        (void)nanosleep(&pause, NULL);
    }
    (void)close(fd);
    return reason_fail(reason, -1, "another program holds its lock");
}

void cache_file_unlock(int lock) {
    if (lock >= 0) (void)close(lock);
}

static bool write_entries(int fd, const struct cache_file *file, const struct cache_list *list,
                          size_t n) {
    struct head head = {.format = FORMAT,
                        .entry_size = sizeof(struct cache_entry),
                        .key_size = (uint32_t)strlen(file->key),
                        .n_entries = (uint32_t)n};
    memcpy(head.magic, MAGIC, sizeof(head.magic));
    head.sum = hash_bytes(HASH_BYTES_BEGIN, file->key, head.key_size);
    for (size_t i = 0; i < n; i++)
        head.sum = hash_bytes(head.sum, list->items[i], sizeof(struct cache_entry));
    bool fine =
        write_whole(fd, &head, sizeof(head)) && write_whole(fd, file->key, head.key_size);
    for (size_t i = 0; fine && i < n; i++)
        fine = write_whole(fd, list->items[i], sizeof(struct cache_entry));
    return fine;
}

int cache_file_write(const struct cache_file *file, const struct cache_list *list, size_t n,
                     struct cm_reason *reason) {
    char fresh[CACHE_LONGEST_PATH];
    if ((size_t)snprintf(fresh, sizeof(fresh), "%s.new", file->path) >= sizeof(fresh))
        return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(ENAMETOOLONG));
    /* A crashed writer may have left this file. No other writer is running, because this
     * process holds the lock. */
    (void)unlink(fresh);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(errno));
    errno = EIO;
    bool fine = write_entries(fd, file, list, n);
    int error = errno;
    if (close(fd) != 0 && fine) {
        fine = false;
        error = errno;
    }
    if (fine && rename(fresh, file->path) != 0) {
        fine = false;
        error = errno;
    }
    if (fine) return CM_BACKEND_OK;
    (void)unlink(fresh);
    return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(error));
}
