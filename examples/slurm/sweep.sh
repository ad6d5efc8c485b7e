#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A campaign as a job array: task I of N runs shard I/N. Submit it from a shared folder that has the
# manifest (docs/cluster.md), with as many tasks as shards:
#
#   sbatch --array=1-8 sweep.sh campaign.json results
#
# A task that died is submitted alone, and continues where it ended:
#
#   sbatch --array=3 --export=ALL,SHARDS=8 sweep.sh campaign.json results
#
# When all tasks are done: costmodel merge results --format csv -o results.csv
#SBATCH --job-name=costmodel
#SBATCH --output=costmodel-%A_%a.log
#SBATCH --requeue
set -eu
exec "${COSTMODEL:-costmodel}" sweep --manifest "$1" --output "$2" \
    --shard "$SLURM_ARRAY_TASK_ID/${SHARDS:-$SLURM_ARRAY_TASK_COUNT}"
