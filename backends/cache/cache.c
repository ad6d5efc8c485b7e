/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of one cache file in memory; cache_save merges the new ones into the file. */
#include "backends/cache/cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/cache/cache_file.h"
#include "backends/cache/cache_folder.h"
#include "backends/plugin/reason.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

struct cache {
    struct arena *arena;
    struct cache_file file;
    struct cache_list all_entries; /* entries of the file and new ones */
    struct cache_list new_entries; /* new entries, not written yet */
};

/* Returns the number of letters that begin an address: 3 for "MIG-...", 0 for a PCI address.
 * Only these letters are part of the key, so that equal devices of a machine share a file. */
static int address_class(const char *address) {
    int length = 0;
    while ((address[length] >= 'A' && address[length] <= 'Z') ||
           (address[length] >= 'g' && address[length] <= 'z'))
        length++;
    return length;
}

static void print_policy(const struct timing_policy *policy, struct text *out) {
    text_printf(out, "policy %d %g %g %u %d %d %g %g %g %g %g\n", (int)policy->warm_up_runs,
                policy->warm_up_s, policy->sample_s, (unsigned)policy->most_per_sample,
                (int)policy->fewest_samples, (int)policy->most_samples, policy->uncertainty,
                policy->budget_s, policy->limit_s, policy->unstable, policy->drift);
}

/* Appends the size and modification time of the module to the key: a rebuilt module may measure
 * differently. Appends nothing for a built-in backend. */
static void print_module(const char *module, struct text *out) {
    struct stat status;
    if (module == NULL || stat(module, &status) != 0) return;
    text_printf(out, "module %lld bytes, of %lld\n", (long long)status.st_size,
                (long long)status.st_mtime);
}

static const char *key_text(const struct cache_key *key, struct arena *arena) {
    struct text text;
    const struct cm_device_facts *facts = key->facts;
    const struct cm_settings *settings = key->settings;
    text_init(&text, arena);
    text_printf(&text, "costmodel %s, backend %s %d\n", CM_VERSION_STRING, key->backend->name,
                CM_BACKEND_ABI);
    print_module(key->module, &text);
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
    print_policy(key->policy, &text);
    return text.failed ? NULL : text_string(&text);
}

int cache_open(const char *folder, const struct cache_key *key, bool invented,
               struct arena *arena, struct cache **ret, struct cm_reason *note) {
    const char *text = key_text(key, arena);
    struct cache *cache = arena_alloc(arena, sizeof(*cache));
    if (text == NULL || cache == NULL) return CM_BACKEND_NO_MEMORY;
    cache->arena = arena;
    cache->file = cache_file_at(folder, text, invented, arena);
    if (cache->file.path == NULL) return CM_BACKEND_NO_MEMORY;
    *ret = cache;
    if (cache_folder_check(folder, note) != CM_BACKEND_OK) return CM_BACKEND_OK;
    return cache_file_read(&cache->file, arena, &cache->all_entries, note);
}

const struct cache_entry *cache_find(const struct cache *cache,
                                     const struct cm_primitive *primitive) {
    return cache_list_find(&cache->all_entries, primitive);
}

int cache_put(struct cache *cache, const struct cm_primitive *primitive,
              const struct cm_measurement *measurement, int64_t when) {
    struct cache_entry entry;
    if (!cache_keeps(measurement, cache->file.invented)) return CM_BACKEND_OK;
    if (cache_list_find(&cache->all_entries, primitive) != NULL) return CM_BACKEND_OK;
    memset(&entry, 0, sizeof(entry));
    entry.when = when;
    entry.primitive = *primitive;
    entry.measurement = *measurement;
    const int status = cache_list_add(&cache->all_entries, &entry, cache->arena);
    return status != CM_BACKEND_OK ? status
                                   : cache_list_add(&cache->new_entries, &entry, cache->arena);
}

/* Orders entries for qsort, newest first. */
static int compare_age(const void *a, const void *b) {
    const struct cache_entry *const *left = a;
    const struct cache_entry *const *right = b;
    return ((*left)->when < (*right)->when) - ((*left)->when > (*right)->when);
}

/* Sets *ret to the new entries and those now in the file, newest first: another process may
 * have added entries since cache_open. Returns CM_BACKEND_OK or CM_BACKEND_NO_MEMORY. */
static int merge(struct cache *cache, struct cache_list *ret) {
    struct cm_reason ignored;
    struct cache_list there = {0, 0, NULL};
    int status = cache_file_read(&cache->file, cache->arena, &there, &ignored);
    *ret = (struct cache_list){0, 0, NULL};
    for (size_t i = 0; status == CM_BACKEND_OK && i < cache->new_entries.n; i++)
        status = cache_list_add(ret, cache->new_entries.items[i], cache->arena);
    for (size_t i = 0; status == CM_BACKEND_OK && i < there.n; i++)
        if (cache_list_find(&cache->new_entries, &there.items[i]->primitive) == NULL)
            status = cache_list_add(ret, there.items[i], cache->arena);
    if (status != CM_BACKEND_OK) return status;
    if (ret->n > 0) qsort(ret->items, ret->n, sizeof(struct cache_entry *), compare_age);
    return CM_BACKEND_OK;
}

int cache_save(struct cache *cache, struct cm_reason *reason) {
    struct cache_list all;
    if (cache->new_entries.n == 0) return CM_BACKEND_OK;
    const int lock = cache_file_lock(&cache->file, reason);
    if (lock < 0) return CM_BACKEND_REFUSED;
    int status = merge(cache, &all);
    if (status == CM_BACKEND_NO_MEMORY) (void)reason_fail(reason, 0, "out of memory");
    const size_t n = all.n < CACHE_MAX_ENTRIES ? all.n : CACHE_MAX_ENTRIES;
    if (status == CM_BACKEND_OK) status = cache_file_write(&cache->file, &all, n, reason);
    if (status == CM_BACKEND_OK) {
        cache->new_entries = (struct cache_list){0, 0, NULL};
        cache_folder_prune(cache->file.folder, ".times", CACHE_MAX_FILES);
    }
    cache_file_unlock(lock);
    return status;
}
