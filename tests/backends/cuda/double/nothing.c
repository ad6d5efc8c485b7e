/* SPDX-License-Identifier: Apache-2.0 */
/* A driver library without functions. */
int double_nothing;
