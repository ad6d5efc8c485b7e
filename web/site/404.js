/* SPDX-License-Identifier: Apache-2.0 */
/* The root of the site is above the first folder that the site has, or the folder of the missing page. */
const path = location.pathname;
const folder = /\/(@folders@)\//.exec(path);
document.getElementById("home").href = folder ? path.slice(0, folder.index + 1) : path.replace(/[^/]*$/, "");
