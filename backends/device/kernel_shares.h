/* SPDX-License-Identifier: Apache-2.0 */
/* Efficiencies from kernels that are measured for this purpose: one large kernel of each kind.
 */
#ifndef BACKENDS_DEVICE_KERNEL_SHARES_H
#define BACKENDS_DEVICE_KERNEL_SHARES_H

#include "backends/device/ceilings.h"
#include "backends/device/devices.h"

/*
 * Sets the shares of model->rates and model->bandwidth that the kernels reach, for all
 * runtimes, and 0 for kinds that the device refuses. The rates and the bandwidth must have been
 * measured. Kernels run in fp16 if the device has tensor cores with an fp16 rate, else in fp32.
 */
void kernel_shares_measure(const struct ceilings_job *job, const struct cm_device_facts *facts,
                           struct device_model *model);

#endif
