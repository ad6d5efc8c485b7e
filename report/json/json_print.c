/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json_print.h"

#include <inttypes.h>
#include <string.h>

#include "support/text.h"

#include "support/banned.h"

/* Only strings have such characters, none of which is past U+FFFF; the rest cJSON has escaped.
 * Bytes that are no UTF-8 do not get here. */
static void print_safe(const char *json, FILE *out) {
    const size_t n = strlen(json);
    for (size_t i = 0; i < n;) {
        uint32_t point = 0;
        size_t length = 0;
        const size_t shown = text_find_unsafe(json + i, n - i, &point, &length);
        fwrite(json + i, 1, shown, out);
        i += shown;
        if (i < n) fprintf(out, "\\u%04" PRIx32, point & 0xFFFF);
        i += length;
    }
}

bool json_print(cJSON *item, FILE *out) {
    char *json = item == NULL ? NULL : cJSON_PrintUnformatted(item);
    cJSON_Delete(item);
    if (json == NULL) return false;
    print_safe(json, out);
    cJSON_free(json);
    return true;
}
