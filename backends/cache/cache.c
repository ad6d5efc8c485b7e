/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the entries of one cache file in memory; cache_save merges new entries into the file.
 * File format: struct head, the text of the key, then an array of struct cache_entry. The file
 * name is a hash of the key; comparing the key in the file detects a collision. Refuses folders
 * and files that other users can write, because the times in them could be forged. */
#include "backends/cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "backends/plugin/reason.h"
#include "backends/primitive.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/hash.h"
#include "support/permissions.h"
#include "support/sort.h"
#include "support/text.h"

#ifdef __APPLE__
#define st_mtim st_mtimespec
#endif

#define MAGIC         "cmtimes\n"
#define SUFFIX        ".times"
#define FORMAT        1
#define LONGEST_PATH  4096
#define LOCK_ATTEMPTS 200  /* 10 ms apart, 2 s in all; another writer needs far less */
#define MAX_PRUNED    1000 /* per call, so that the loop ends */

struct head {
    char magic[8];
    uint32_t format;
    uint32_t entry_size;
    uint32_t key_size;
    uint32_t n_entries;
    uint64_t sum; /* hash_bytes of all bytes after the header */
};

struct entries {
    size_t n;
    size_t capacity;
    struct cache_entry **items;
};

struct cache {
    struct arena *arena;
    const char *folder;
    const char *path; /* path of the file in `folder` */
    const char *key;  /* text of the key; the file contains it too */
    bool invented;    /* also accept CM_INVENTED times */
    struct entries entries;
    size_t n_saved; /* entries that are in the file; the later ones are new */
};

/* Returns the number of letters, except the hex digits a-f, that begin an address: 3 for
 * "MIG-...", 0 for a PCI address. The key contains only these letters of the address, so that
 * equal devices of a machine share a file. */
static int address_class(const char *address) {
    int length = 0;
    while ((address[length] >= 'A' && address[length] <= 'Z') ||
           (address[length] >= 'g' && address[length] <= 'z'))
        length++;
    return length;
}

/* Returns the key as lines of text; NULL if out of memory. */
static const char *key_text(const struct cache_key *key, struct arena *arena) {
    const struct cm_device_facts *facts = key->facts;
    const struct cm_settings *settings = key->settings;
    const struct timing_policy *policy = key->policy;
    struct stat status;
    struct text text;
    text_init(&text, arena);
    /* Not cm_version(): results stay valid between the commits of a release. */
    text_printf(&text, "costmodel %s, backend %s %d\n", CM_VERSION_STRING, key->backend->name,
                CM_BACKEND_ABI);
    /* A rebuilt module may measure differently. */
    if (key->module != NULL && stat(key->module, &status) == 0)
        text_printf(&text, "module %lld bytes, of %lld\n", (long long)status.st_size,
                    (long long)status.st_mtime);
    text_printf(&text, "device %s\nversion %s\narchitecture %s\naddress %.*s\n", facts->name,
                facts->version, facts->architecture, address_class(facts->address),
                facts->address);
    text_printf(&text, "memory %lld, cache %lld, units %d x %d\n",
                (long long)facts->memory_bytes, (long long)facts->cache_bytes,
                (int)facts->n_units, (int)facts->threads_a_unit);
    text_printf(&text, "precision %d, layout %d, autotune %d\n", (int)settings->precision,
                (int)settings->layout, (int)settings->autotune);
    for (size_t i = 0; i < settings->n; i++)
        text_printf(&text, "set %s=%s\n", settings->items[i].name, settings->items[i].value);
    text_printf(&text, "policy %d %g %g %u %d %d %g %g %g %g %g\n", (int)policy->warm_up_runs,
                policy->warm_up_s, policy->sample_s, (unsigned)policy->most_per_sample,
                (int)policy->fewest_samples, (int)policy->most_samples, policy->uncertainty,
                policy->budget_s, policy->limit_s, policy->unstable, policy->drift);
    return text.failed ? NULL : text_string(&text);
}

/* Appends a copy of the entry. Returns CM_BACKEND_OK or CM_BACKEND_NO_MEMORY. */
static int add_entry(struct entries *list, const struct cache_entry *entry,
                     struct arena *arena) {
    const struct cache_entry *copy = arena_copy(arena, entry, sizeof(*entry));
    return copy != NULL && arena_push(arena, &list->items, &list->n, &list->capacity, &copy,
                                      sizeof(struct cache_entry *))
               ? CM_BACKEND_OK
               : CM_BACKEND_NO_MEMORY;
}

static const struct cache_entry *find_entry(const struct entries *list,
                                            const struct cm_primitive *primitive) {
    for (size_t i = 0; i < list->n; i++)
        if (primitive_equal(&list->items[i]->primitive, primitive)) return list->items[i];
    return NULL;
}

static bool is_time(const struct cm_timing *timing) {
    return isfinite(timing->median) && timing->median > 0 && isfinite(timing->q1) &&
           isfinite(timing->q3) && isfinite(timing->min) && isfinite(timing->max) &&
           timing->n_samples > 0 && timing->per_sample > 0;
}

/* Returns true if the cache accepts this measurement: it ran and its times are stable. */
static bool is_kept(const struct cache *cache, const struct cm_measurement *measurement) {
    const bool ran = measurement->state == CM_MEASURED || measurement->state == CM_PROXY ||
                     (cache->invented && measurement->state == CM_INVENTED);
    const uint32_t doubts = CM_FLAG_UNSTABLE | CM_FLAG_THROTTLED;
    return ran && (measurement->flags & doubts) == 0 && is_time(&measurement->cold) &&
           is_time(&measurement->warm);
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

/* Returns true if all fields of an entry are in range. The checksum detects only damage; these
 * checks also protect against a forged file. */
static bool is_entry(const struct cache *cache, const struct cache_entry *entry) {
    struct cm_reason reason;
    const struct cm_measurement *measurement = &entry->measurement;
    return entry->when > 0 && entry->when <= (int64_t)time(NULL) + 86400 &&
           primitive_check(&entry->primitive, &reason) == CM_BACKEND_OK &&
           is_kept(cache, measurement) && isfinite(measurement->drift) &&
           is_how(&measurement->how) && is_text(measurement->reason.text, CM_REASON_SIZE) &&
           is_text(measurement->clocks.throttle, sizeof(measurement->clocks.throttle));
}

/* Returns static text if another user owns or may write the file or folder; NULL if not. */
static const char *doubt_of(const struct stat *status) {
    if (!permissions_are_own(status)) return "it belongs to another user";
    return permissions_are_shared(status) ? "others may write it" : NULL;
}

/* Returns CM_BACKEND_OK if the folder is missing or safe to read, else CM_BACKEND_REFUSED. */
static int check_folder(const char *folder, struct cm_reason *reason) {
    struct stat status;
    if (folder[0] != '/')
        return reason_fail(reason, CM_BACKEND_REFUSED, "the path is not absolute");
    if (stat(folder, &status) != 0 && errno == ENOENT) return CM_BACKEND_OK;
    if (stat(folder, &status) != 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return reason_fail(reason, CM_BACKEND_REFUSED, "not a directory");
    const char *doubt = doubt_of(&status);
    return doubt ? reason_fail(reason, CM_BACKEND_REFUSED, "%s", doubt) : CM_BACKEND_OK;
}

/* Returns the reason (static text) if the header is not valid for this cache; NULL if it is. */
static const char *check_head(const struct cache *cache, const struct head *head,
                              int64_t size) {
    if (memcmp(head->magic, MAGIC, sizeof(head->magic)) != 0) return "it is not a cache file";
    if (head->format != FORMAT || head->entry_size != sizeof(struct cache_entry))
        return "another version wrote it";
    if (head->key_size != strlen(cache->key))
        return "it was written for another device or other settings";
    if (head->n_entries > CACHE_MAX_ENTRIES) return "it has too many entries";
    const int64_t want = (int64_t)sizeof(*head) + head->key_size +
                         (int64_t)head->n_entries * (int64_t)sizeof(struct cache_entry);
    return size == want ? NULL : "it is incomplete";
}

/* Adds the valid entries of the open file to *ret. Sets *ret_why to the reason if the file is
 * ignored, else to NULL. */
static int read_open(const struct cache *cache, FILE *file, struct entries *ret,
                     const char **ret_why) {
    struct stat status;
    struct head head;
    struct cache_entry entry;
    *ret_why = "it cannot be read";
    if (fstat(fileno(file), &status) != 0) return CM_BACKEND_OK;
    *ret_why = doubt_of(&status);
    if (*ret_why != NULL) return CM_BACKEND_OK;
    *ret_why = "it is not a regular file";
    if (!S_ISREG(status.st_mode)) return CM_BACKEND_OK;
    *ret_why = "it is incomplete";
    if (fread(&head, sizeof(head), 1, file) != 1) return CM_BACKEND_OK;
    *ret_why = check_head(cache, &head, (int64_t)status.st_size);
    if (*ret_why != NULL) return CM_BACKEND_OK;
    const size_t size = (size_t)status.st_size - sizeof(head);
    char *body = arena_alloc(cache->arena, size);
    if (body == NULL) return CM_BACKEND_NO_MEMORY;
    *ret_why = "it cannot be read";
    if (fread(body, 1, size, file) != size) return CM_BACKEND_OK;
    *ret_why = "its checksum is wrong";
    if (hash_bytes(HASH_BYTES_BEGIN, body, size) != head.sum) return CM_BACKEND_OK;
    *ret_why = "it was written for another device or other settings";
    if (memcmp(body, cache->key, head.key_size) != 0) return CM_BACKEND_OK;
    *ret_why = NULL;
    for (uint32_t i = 0; i < head.n_entries; i++) {
        memcpy(&entry, body + head.key_size + i * sizeof(entry), sizeof(entry));
        if (is_entry(cache, &entry) && add_entry(ret, &entry, cache->arena) != CM_BACKEND_OK)
            return CM_BACKEND_NO_MEMORY;
    }
    return CM_BACKEND_OK;
}

/* Adds the valid entries of the file to *ret. A missing file adds none; a file that is invalid
 * or that another user owns or may write is ignored, with the reason in *note. Returns
 * CM_BACKEND_OK or CM_BACKEND_NO_MEMORY. */
static int read_file(const struct cache *cache, struct entries *ret, struct cm_reason *note) {
    const char *why = NULL;
    /* O_NONBLOCK: opening a FIFO must not block. */
    const int fd = open(cache->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return CM_BACKEND_OK;
    if (fd < 0) return reason_fail(note, CM_BACKEND_OK, "%s", strerror(errno));
    FILE *file = fdopen(fd, "r");
    if (file == NULL) {
        (void)close(fd);
        return CM_BACKEND_NO_MEMORY;
    }
    const int status = read_open(cache, file, ret, &why);
    (void)fclose(file);
    if (why != NULL) (void)reason_fail(note, 0, "%s", why);
    return status;
}

int cache_open(const char *folder, const struct cache_key *key, bool invented,
               struct arena *arena, struct cache **ret, struct cm_reason *note) {
    const char *text = key_text(key, arena);
    struct cache *cache = arena_alloc(arena, sizeof(*cache));
    if (text == NULL || cache == NULL) return CM_BACKEND_NO_MEMORY;
    const unsigned long long name = hash_bytes(HASH_BYTES_BEGIN, text, strlen(text));
    *cache =
        (struct cache){.arena = arena, .folder = folder, .key = text, .invented = invented};
    cache->path = arena_printf(arena, "%s/%016llx" SUFFIX, folder, name);
    if (cache->path == NULL) return CM_BACKEND_NO_MEMORY;
    *ret = cache;
    if (check_folder(folder, note) != CM_BACKEND_OK) return CM_BACKEND_OK;
    const int status = read_file(cache, &cache->entries, note);
    cache->n_saved = cache->entries.n;
    return status;
}

const struct cache_entry *cache_find(const struct cache *cache,
                                     const struct cm_primitive *primitive) {
    return find_entry(&cache->entries, primitive);
}

int cache_put(struct cache *cache, const struct cm_primitive *primitive,
              const struct cm_measurement *measurement, int64_t when) {
    struct cache_entry entry;
    if (!is_kept(cache, measurement)) return CM_BACKEND_OK;
    if (cache_find(cache, primitive) != NULL) return CM_BACKEND_OK;
    memset(&entry, 0, sizeof(entry));
    entry.when = when;
    entry.primitive = *primitive;
    entry.measurement = *measurement;
    return add_entry(&cache->entries, &entry, cache->arena);
}

/* Creates the folder if needed and locks it. Returns a descriptor, or -1 with the reason. */
static int lock_folder(const char *folder, struct cm_reason *reason) {
    char path[LONGEST_PATH];
    const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const struct timespec pause = {0, 10000000};
    const bool is_long = strlen(folder) >= sizeof(path);
    const int error = is_long ? ENAMETOOLONG : output_make_folder(folder, 0700);
    if (error != 0) return reason_fail(reason, -1, "%s", strerror(error));
    if (check_folder(folder, reason) != CM_BACKEND_OK) return -1;
    if ((size_t)snprintf(path, sizeof(path), "%s/lock", folder) >= sizeof(path))
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

/* Replaces the file by the first `n` entries of the list; requires the lock. Returns
 * CM_BACKEND_OK, or a status with its reason. */
static int write_file(const struct cache *cache, const struct entries *list, size_t n,
                      struct cm_reason *reason) {
    char fresh[LONGEST_PATH];
    struct head head = {.format = FORMAT,
                        .entry_size = sizeof(struct cache_entry),
                        .key_size = (uint32_t)strlen(cache->key),
                        .n_entries = (uint32_t)n};
    memcpy(head.magic, MAGIC, sizeof(head.magic));
    head.sum = hash_bytes(HASH_BYTES_BEGIN, cache->key, head.key_size);
    for (size_t i = 0; i < n; i++)
        head.sum = hash_bytes(head.sum, list->items[i], sizeof(struct cache_entry));
    if ((size_t)snprintf(fresh, sizeof(fresh), "%s.new", cache->path) >= sizeof(fresh))
        return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(ENAMETOOLONG));
    /* A crashed writer may have left this file. No other writer is running, because this
     * process holds the lock. */
    (void)unlink(fresh);
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(errno));
    FILE *file = fdopen(fd, "w");
    int error = file == NULL ? errno : 0;
    if (file == NULL) {
        (void)close(fd);
    } else {
        errno = EIO;
        (void)fwrite(&head, sizeof(head), 1, file);
        (void)fwrite(cache->key, 1, head.key_size, file);
        for (size_t i = 0; i < n; i++)
            (void)fwrite(list->items[i], sizeof(struct cache_entry), 1, file);
        if (fflush(file) != 0 || ferror(file)) error = errno;
        if (fclose(file) != 0 && error == 0) error = errno;
    }
    if (error == 0 && rename(fresh, cache->path) != 0) error = errno;
    if (error == 0) return CM_BACKEND_OK;
    (void)unlink(fresh);
    return reason_fail(reason, CM_BACKEND_REFUSED, "%s", strerror(error));
}

/* Returns the number of cache files in `folder`; sets `ret` to the path of the oldest one. */
static int find_oldest(const char *folder, char ret[LONGEST_PATH]) {
    struct timespec oldest = {0, 0};
    int n = 0;
    DIR *stream = opendir(folder);
    if (stream == NULL) return 0;
    for (const struct dirent *file = readdir(stream); file != NULL; file = readdir(stream)) {
        char path[LONGEST_PATH];
        struct stat status;
        if (!text_ends_with(file->d_name, SUFFIX)) continue;
        const int length = snprintf(path, sizeof(path), "%s/%s", folder, file->d_name);
        if (length < 0 || (size_t)length >= sizeof(path) || lstat(path, &status) != 0) continue;
        const bool older =
            status.st_mtim.tv_sec < oldest.tv_sec ||
            (status.st_mtim.tv_sec == oldest.tv_sec && status.st_mtim.tv_nsec < oldest.tv_nsec);
        if (n++ > 0 && !older) continue;
        oldest = status.st_mtim;
        memcpy(ret, path, (size_t)length + 1);
    }
    (void)closedir(stream);
    return n;
}

/* Orders entries, newest first. */
static int compare_age(const void *a, const void *b) {
    const struct cache_entry *const *left = a;
    const struct cache_entry *const *right = b;
    return ((*left)->when < (*right)->when) - ((*left)->when > (*right)->when);
}

/* Sets *ret to the new entries and the entries in the file, newest first. Reads the file again:
 * another process may have added entries since cache_open. Returns CM_BACKEND_OK or
 * CM_BACKEND_NO_MEMORY. */
static int merge(struct cache *cache, struct entries *ret) {
    struct cm_reason ignored;
    struct entries there = {0, 0, NULL};
    int status = read_file(cache, &there, &ignored);
    *ret = (struct entries){0, 0, NULL};
    for (size_t i = cache->n_saved; status == CM_BACKEND_OK && i < cache->entries.n; i++)
        status = add_entry(ret, cache->entries.items[i], cache->arena);
    const struct entries fresh = *ret;
    for (size_t i = 0; status == CM_BACKEND_OK && i < there.n; i++)
        if (find_entry(&fresh, &there.items[i]->primitive) == NULL)
            status = add_entry(ret, there.items[i], cache->arena);
    if (status != CM_BACKEND_OK) return status;
    if (ret->n > 0) sort_stable(ret->items, ret->n, sizeof(struct cache_entry *), compare_age);
    return CM_BACKEND_OK;
}

int cache_save(struct cache *cache, struct cm_reason *reason) {
    struct entries all;
    char oldest[LONGEST_PATH];
    if (cache->entries.n == cache->n_saved) return CM_BACKEND_OK;
    const int lock = lock_folder(cache->folder, reason);
    if (lock < 0) return CM_BACKEND_REFUSED;
    int status = merge(cache, &all);
    if (status == CM_BACKEND_NO_MEMORY) (void)reason_fail(reason, 0, "out of memory");
    const size_t n = all.n < CACHE_MAX_ENTRIES ? all.n : CACHE_MAX_ENTRIES;
    if (status == CM_BACKEND_OK) status = write_file(cache, &all, n, reason);
    if (status == CM_BACKEND_OK) {
        cache->n_saved = cache->entries.n;
        for (int i = 0; i < MAX_PRUNED; i++)
            if (find_oldest(cache->folder, oldest) <= CACHE_MAX_FILES || unlink(oldest) != 0)
                break;
    }
    (void)close(lock);
    return status;
}
