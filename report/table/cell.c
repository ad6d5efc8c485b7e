/* SPDX-License-Identifier: Apache-2.0 */
/* Writes cells as text. A share or quotient other than 0 never prints as 0, except in
 * NUMBERS_EXACT, which has nine decimals. */
#include "report/table/cell.h"

#include "support/checked.h"
#include "support/text.h"

bool cell_is_known(const struct cell *cell) {
    if (cell->kind == CELL_SHARE) return is_known(cell->value) && is_known(cell->whole);
    if (cell->kind == CELL_COUNT || cell->kind == CELL_FIGURE) return is_known(cell->value);
    return cell->kind == CELL_TEXT || (cell->kind == CELL_REAL && cell->real >= 0);
}

double cell_real(const struct cell *cell) {
    if (cell->kind == CELL_REAL) return cell->real;
    if (cell->kind == CELL_SHARE && cell->whole > 0)
        return (double)cell->value / (double)cell->whole;
    if (cell->kind == CELL_SHARE) return 0;
    return (double)cell->value;
}

void cell_append(struct text *text, const struct cell *cell, enum number_style style) {
    if (cell->kind == CELL_NONE || cell->kind == CELL_TEXT) return;
    if (cell->kind == CELL_COUNT)
        number_append(text, NUMBERS_EXACT, cell->unit, cell->value);
    else if (cell->kind == CELL_FIGURE)
        number_append(text, style, cell->unit, cell->value);
    else if (cell->kind == CELL_REAL || style == NUMBERS_EXACT)
        number_append_real(text, cell_real(cell), style == NUMBERS_EXACT ? 9 : 2);
    else if (cell_real(cell) > 0 && cell_real(cell) < 0.00005)
        text_append(text, "<0.01%"); /* but 0.005% is "0.01%", and 0 is "0.00%" */
    else
        number_append_percent(text, cell->value, cell->whole);
}

void cell_append_shown(struct text *text, const struct cell *cell, enum number_style style,
                       bool unicode) {
    if (!cell_is_known(cell)) {
        text_append(text, "?");
        return;
    }
    text_append(text, number_bound_prefix(cell->bound, unicode));
    cell_append(text, cell, style);
}
