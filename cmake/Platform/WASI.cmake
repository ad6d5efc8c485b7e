# SPDX-License-Identifier: Apache-2.0
# CMake does not know this system; it has nothing that the defaults of CMake lack.
