/* SPDX-License-Identifier: Apache-2.0 */
/* Reads facts of the machine from /proc and /sys. Does not ask sysconf for the cache size:
 * the answer can be ten times the actual size. */
#include "backends/onednn/machine.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB            1024
#define ASSUMED_CACHE  ((int64_t)32 << 20) /* default if the machine does not report it */
#define LONGEST_LINE   512
#define MAX_LINES      128
#define MAX_LEVELS     8
#define MAX_PROCESSORS 1024
#define MAX_SENSORS    16

/* Sets `ret` to the rest of the first line of `path` that starts with `key`; false if none. */
static bool find_line(const char *path, const char *key, char *ret, size_t size) {
    char line[LONGEST_LINE];
    bool found = false;
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    for (int i = 0; i < MAX_LINES && !found && fgets(line, sizeof(line), file); i++) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *at = line + strlen(key);
        at += strspn(at, " \t:");
        (void)snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
        found = true;
    }
    (void)fclose(file);
    return found;
}

/* Counts the bits of Cpus_allowed, a hexadecimal mask with a comma every eight digits. */
int machine_processors(void) {
    char mask[LONGEST_LINE];
    int n = 0;
    if (!find_line("/proc/self/status", "Cpus_allowed:", mask, sizeof(mask))) mask[0] = '\0';
    for (const char *at = mask; *at != '\0'; at++) {
        const char digit[] = {*at, '\0'};
        for (long bits = strtol(digit, NULL, 16); bits > 0; bits >>= 1) n += (int)(bits & 1);
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online > 0 && (n == 0 || n > online)) n = (int)online;
    return n > 0 ? n : 1;
}

void machine_name(char *ret, size_t size) {
    if (!find_line("/proc/cpuinfo", "model name", ret, size)) ret[0] = '\0';
}

int64_t machine_cache_bytes(void) {
    int64_t largest = 0;
    for (int i = 0; i < MAX_LEVELS; i++) {
        char path[96];
        char text[32];
        (void)snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size",
                       i);
        if (!find_line(path, "", text, sizeof(text))) break;
        char *end = text;
        int64_t bytes = strtoll(text, &end, 10);
        if (*end == 'K') bytes *= KIB;
        if (*end == 'M') bytes *= (int64_t)KIB * KIB;
        largest = bytes > largest ? bytes : largest;
    }
    return largest > 0 ? largest : ASSUMED_CACHE;
}

int64_t machine_meminfo(const char *key) {
    char text[64];
    if (!find_line("/proc/meminfo", key, text, sizeof(text))) return 0;
    return strtoll(text, NULL, 10) * KIB;
}

/* Sums the second number of each thread's schedstat, nanoseconds spent waiting for a CPU. */
double machine_waited(void) {
    double seconds = 0;
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL) return 0;
    for (const struct dirent *entry = readdir(threads); entry != NULL;
         entry = readdir(threads)) {
        char path[96];
        char text[96];
        (void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/schedstat", entry->d_name);
        if (entry->d_name[0] == '.' || !find_line(path, "", text, sizeof(text))) continue;
        char *end = text;
        (void)strtoull(text, &end, 10);
        seconds += 1e-9 * strtod(end, NULL);
    }
    (void)closedir(threads);
    return seconds;
}

/* Returns the number in a file of one CPU or sensor; 0 if there is none. */
static int64_t read_number(const char *before, int which, const char *after) {
    char path[96];
    char text[32];
    (void)snprintf(path, sizeof(path), "%s%d/%s", before, which, after);
    return find_line(path, "", text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;
}

void machine_clocks(struct cm_clocks *ret) {
    static const char processor[] = "/sys/devices/system/cpu/cpu";
    static const char sensor[] = "/sys/class/thermal/thermal_zone";
    int64_t sum = 0;
    int64_t warmest = 0;
    int n = 0;
    memset(ret, 0, sizeof(*ret));
    for (; n < MAX_PROCESSORS; n++) {
        const int64_t khz = read_number(processor, n, "cpufreq/scaling_cur_freq");
        if (khz <= 0) break;
        sum += khz;
    }
    for (int i = 0; i < MAX_SENSORS; i++) {
        const int64_t degrees = read_number(sensor, i, "temp") / 1000;
        warmest = degrees > warmest ? degrees : warmest;
    }
    ret->unit_mhz = n > 0 ? (int32_t)(sum / n / 1000) : 0;
    ret->unit_most_mhz =
        (int32_t)(read_number(processor, 0, "cpufreq/cpuinfo_max_freq") / 1000);
    ret->temperature_c = (int32_t)warmest;
}

double machine_load(void) {
    char text[64];
    if (!find_line("/proc/loadavg", "", text, sizeof(text))) return -1;
    return strtod(text, NULL);
}
