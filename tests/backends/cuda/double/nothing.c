/* SPDX-License-Identifier: Apache-2.0 */
/* A driver without functions. */
int double_nothing;
