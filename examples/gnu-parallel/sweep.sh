#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A campaign on several machines with GNU parallel: a shard per job. HOSTS is a list for --sshlogin,
# ":" is this machine; the machines share the working directory. --resume-failed, after a failure or
# a kill, starts only the shards that are not complete.
#
#   ./sweep.sh campaign.json results 8 a,b,c
set -eu
manifest=$1 results=$2 shards=$3 hosts=${4:-:}
mkdir -p "$results"
seq "$shards" | parallel --sshlogin "$hosts" --workdir . --joblog "$results/parallel.log" --resume-failed \
    --retries 3 --jobs 1 \
    "${COSTMODEL:-costmodel}" sweep --manifest "$manifest" --output "$results" --shard "{}/$shards"
# Status 3: a combination failed; its row has the message.
"${COSTMODEL:-costmodel}" merge "$results" --format csv --output "$results.csv" || [ $? = 3 ]
