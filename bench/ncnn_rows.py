#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Prints the times of ncnn's benchmark that were measured on the processors of devices/, as rows.

usage: ncnn_rows.py TABLE

TABLE is latency_edge_ncnn.csv.xz. A row has the time of all cores that the device file describes:
other numbers of threads, and runs of a chip that are more than 30 % slower than its fastest ones
(old versions), are left out. ncnn computes in fp16 where the processor has fp16 arithmetic.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import csv
import json
import lzma
from pathlib import Path

DEVICES = Path(__file__).resolve().parent.parent / "devices"
COLUMNS = "table device runtime precision model batch dims mode ms held_key threads".split()
BOARDS = (  # device, start of the board's name, threads, powersave (2: large cores only)
    ("allwinner-h616", "OrangePi Zero 2,", 4, 0),
    ("atom-x5-z8350", "Intel Atom x5-Z8350", 4, 0),
    ("celeron-n5105", "Intel Celeron N5105", 4, 0),
    ("core-i7-13700k", "Intel® Core™ i7-13700K", 16, 0),
    ("dimensity-9300", "MediaTek Dimensity 9300", 4, 2),
    ("epyc-7742", "AMD EPYC 7742", 64, 0),
    ("jetson-agx-orin-cpu", "NVIDIA Jetson AGX Orin", 12, 0),
    ("jetson-agx-xavier-cpu", "NVIDIA Jetson AGX Xavier", 8, 0),
    ("jetson-nano-cpu", "NVIDIA Jetson Nano", 4, 0),
    ("jetson-orin-nano-cpu", "NVIDIA Jetson Orin Nano", 6, 0),
    ("jh7110", "VisionFive2", 4, 0),
    ("kirin-970", "Kirin 970", 4, 2),
    ("kunpeng-920-24", "HUAWEI KunPeng 920 3211K", 24, 0),
    ("kunpeng-920-64", "HUAWEI Kunpeng 920 7260", 64, 0),
    ("loongson-3a5000", "Loongson 3A5000", 4, 2),
    ("loongson-3a6000", "Loongson 3A6000", 8, 2),
    ("raspberry-pi-3", "Raspberry Pi 3 Model B+", 4, 0),
    ("raspberry-pi-4", "Raspberry Pi 4 Model B", 4, 0),
    ("raspberry-pi-5", "Raspberry Pi 5 Broadcom BCM2712, Cortex-A76", 4, 0),
    ("raspberry-pi-zero-2", "Raspberry Pi Zero 2 W", 4, 0),
    ("rk3288", "Rockchip RK3288", 4, 0),
    ("rk3399", "Rockchip RK3399", 2, 2),
    ("rk3399", "OrangePi4 LTS", 2, 2),
    ("rk3566", "OrangePicm4", 4, 0),
    ("rk3568", "Station P2", 4, 0),
    ("rk3568", "Rock3A", 4, 0),
    ("rk3588", "OrangePi5", 4, 2),
    ("ryzen-9-5950x", "AMD Ryzen 9 5950X", 16, 0),
    ("ryzen-v1605b", "AMD Ryzen Embedded V1605B", 4, 0),
    ("snapdragon-410", "Qualcomm MSM8916 Snapdragon 410", 4, 0),
    ("snapdragon-810", "Qualcomm MSM8994 Snapdragon 810", 4, 2),
    ("snapdragon-821", "Qualcomm MSM8996 Pro Snapdragon 821", 4, 0),
    ("snapdragon-835", "Qualcomm MSM8998 Snapdragon 835", 4, 2),
    ("snapdragon-855-plus", "Qualcomm SM8150-AC Snapdragon 855+", 4, 2),
    ("snapdragon-x-elite", "Qualcomm Snapdragon X Elite", 12, 0),
    ("spacemit-k1", "Spacemit MUSE Pi Pro", 8, 2),
    ("th1520", "T-Head TH1520", 4, 0),
)


def float_precision(device):
    facts = json.loads((DEVICES / f"{device}.json").read_text())
    return "fp16" if facts["architecture"] == "aarch64" and "fp16" in facts["rates"] else "fp32"


def rows_of(measured):
    for device, board, threads, powersave in BOARDS:
        mode = f"inference threads={threads} powersave={powersave}"
        for row in measured:
            if not (row["runtime"] == "ncnn cpu" and row["mode"] == mode
                    and row["device"].startswith(board)):
                continue
            name = row["model"].removesuffix("_int8")
            precision = float_precision(device) if row["precision"] != "int8" else "int8"
            yield ("ncnn " + board.partition(",")[0], device, "ncnn", precision,
                   f"ncnn/{row['model']}.onnx", 1, "", "inference", row["ms"], name, threads)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with lzma.open(sys.argv[1], "rt", newline="") as file:
        measured = list(csv.DictReader(file))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    out.writerows(rows_of(measured))


if __name__ == "__main__":
    main()
