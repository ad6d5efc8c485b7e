/* SPDX-License-Identifier: Apache-2.0 */
/* Text styles of a terminal report: names bold, shares faint, bars coloured. */
#ifndef REPORT_STYLE_H
#define REPORT_STYLE_H

enum style { STYLE_PLAIN, STYLE_TITLE, STYLE_NAME, STYLE_SHARE, STYLE_WARNING, STYLE_BAR };

/* The ANSI (ECMA-48 SGR) sequences around a piece of text; "" for plain. */
const char *style_on(enum style style);
const char *style_off(enum style style);

#endif
