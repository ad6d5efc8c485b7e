/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that the build embeds in the program (cmake/Report.cmake), with hashes for the
 * Content-Security-Policy: 'sha256-...'. */
#ifndef REPORT_HTML_HTML_ASSETS_H
#define REPORT_HTML_HTML_ASSETS_H

struct html_assets {
    const char *style;
    const char *style_hash;
    const char *d3; /* d3.min.js; NULL: built without */
    const char *d3_hash;
    const char *d3_license;
    const char *script;
    const char *script_hash;
};

extern const struct html_assets html_assets;

#endif
