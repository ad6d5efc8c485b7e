#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# As sweep.sh, for a campaign that measures (its manifest has "measure": "cuda"). One array per type
# of GPU, each with a folder of its own; times are kept in a cache on the shared file system, so that
# a layer is measured once per type of GPU:
#
#   sbatch --array=1-4 --gres=gpu:v100:1 measure.sh campaign.json results-v100
#   sbatch --array=1-4 --gres=gpu:rtx5000:1 measure.sh campaign.json results-rtx5000
#
# Then: costmodel merge results-v100 results-rtx5000 --format csv -o results.csv
#SBATCH --job-name=costmodel-measure
#SBATCH --output=costmodel-%A_%a.log
#SBATCH --exclusive
#SBATCH --requeue
set -eu
export COSTMODEL_CACHE="${COSTMODEL_CACHE:-$PWD/costmodel-cache}"
exec "${COSTMODEL:-costmodel}" sweep --manifest "$1" --output "$2" \
    --shard "$SLURM_ARRAY_TASK_ID/${SHARDS:-$SLURM_ARRAY_TASK_COUNT}"
