/* SPDX-License-Identifier: Apache-2.0 */
/* Style and scripts of the HTML pages, which the build embeds (cmake/Report.cmake). */
#pragma once

struct html_asset {
    const char *text;
    const char *hash; /* for the Content-Security-Policy: 'sha256-...' */
};

struct html_assets {
    struct html_asset style;
    struct html_asset d3; /* d3.min.js, packed; text is NULL if built without d3 */
    const char *d3_license;
    struct html_asset script;
    struct html_asset diff_script;  /* additional script of pages of diff and check */
    struct html_asset sweep_script; /* additional script of pages with a sweep */
};

extern const struct html_assets html_assets;

struct cm_diagnostics;

/* Returns CM_OK; CM_USAGE with an error if the assets lack d3. */
int html_check_assets(const struct html_assets *assets, struct cm_diagnostics *diag)
    __attribute__((warn_unused_result));
