/* SPDX-License-Identifier: Apache-2.0 */
/* CSV by RFC 4180, for spreadsheets and programs. A spreadsheet evaluates a field that begins
 * with = + - or @ as a formula, quoted or not, so such a name is prefixed with ', which marks
 * the cell as text. Control characters are escaped (text_append_name), so that each record is
 * one line. */
#include "report/table/csv.h"

#include <string.h>

#include "report/report.h"
#include "report/table/listing.h"
#include "support/file.h"

#define FORMULA_STARTS "=+-@"

void csv_put_text(const char *name, struct text *safe, FILE *out) {
    text_clear(safe);
    text_append_name(safe, name);
    const char *text = text_string(safe);
    const bool is_formula = *text != '\0' && strchr(FORMULA_STARTS, *text) != NULL;
    const size_t length = strlen(text);
    const bool is_quoted = strpbrk(text, ",\"") != NULL || is_formula || text[0] == ' ' ||
                           (length > 0 && text[length - 1] == ' ');
    if (is_quoted) fputc('"', out);
    if (is_formula) fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    if (is_quoted) fputc('"', out);
}

/* Unknown figures and figures that the row lacks are empty cells. */
int report_write_csv(const struct report *report) {
    FILE *out = report->out;
    struct listing listing;
    const int status =
        listing_open(report->table, listing_rows(report), NULL, report->diag, &listing);
    if (status != CM_OK) return status;
    struct text safe = {.arena = listing.arena};
    for (size_t i = 0; i < listing.n_fields; i++)
        fprintf(out, "%s%s", i == 0 ? "" : ",", listing.fields[i].key);
    fputs("\r\n", out);
    for (size_t row = 0; row < listing.n_rows; row++) {
        for (size_t i = 0; i < listing.n_fields; i++) {
            struct cell cell;
            listing_cell(&listing, row, i, &cell);
            if (i > 0) fputc(',', out);
            text_clear(&safe);
            if (cell.kind == CELL_TEXT)
                csv_put_text(text_string(cell.words), &safe, out);
            else if (cell_is_known(&cell))
                cell_append(&safe, &cell, number_style_of(report->table->units, NUMBERS_EXACT));
            if (cell.kind != CELL_TEXT) fputs(text_string(&safe), out);
        }
        fputs("\r\n", out);
    }
    return listing_close(&listing, output_flush(out));
}
