#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the time from nothing to a first answer in a clean Debian 12, for three ways to install.

    first_answer.py [--root DIR] [--source DIR] [--tarball FILE] [--cores N] [--copy FILE]... [WAY...]

clone:   git clone, tools/bootstrap profile
pip:     after tools/bootstrap packages: a virtual environment, pip install ., costmodel MODEL
tarball: unpack the static tarball of tools/release (FILE, default build/dist/*-static.tar.gz), costmodel MODEL

Requires root, debootstrap, unshare, and network access for packages. DIR (default /tmp/first_answer) keeps the clean
root for the next run. The clone is of the commit that is checked out in --source (default: this repository). --copy:
settings of this machine that the root needs too, for example of apt. Exits with 1 if a time exceeds its limit.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MIRROR = "http://deb.debian.org/debian"
PACKAGES = "git,ca-certificates,python3-venv"
RESOLVER = pathlib.Path("/etc/resolv.conf")
CERTIFICATES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "PIP_CERT", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT", "SSL_CERT_FILE")
PROFILE = "costmodel models/pointnet.onnx --batch 32"

# name: (script that runs first, timed script, limit in seconds)
WAYS = {
    "clone": ("", "git clone -q /repository costmodel && cd costmodel && tools/bootstrap profile", 90),
    "pip": ("git clone -q /repository costmodel && costmodel/tools/bootstrap packages",
            f"cd costmodel && python3 -m venv env && env/bin/pip install . && env/bin/{PROFILE}", 150),
    "tarball": ("git clone -q /repository costmodel && mkdir installed",
                f"tar -xzf /tarball -C installed --strip-components=1 && cd costmodel && ../installed/bin/{PROFILE}", 5),
}


def make_base(folder):
    """Makes the clean root, under another name until it is complete."""
    part = folder.with_suffix(".part")
    if folder.exists():
        return
    shutil.rmtree(part, ignore_errors=True)
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", part, MIRROR],
                   check=True, stdout=subprocess.DEVNULL)
    (part / "etc/apt/sources.list").write_text("".join(
        f"deb {MIRROR}{path} bookworm{suite} main\n"
        for path, suite in (("", ""), ("", "-updates"), ("-security", "-security"))))
    part.rename(folder)


def copy_settings(folder, paths):
    """Copies the settings without which the root cannot reach the network of this machine."""
    for path in (RESOLVER, CERTIFICATES, *paths):
        target = folder / path.relative_to("/")
        if path.exists():
            target.unlink(missing_ok=True)
            shutil.copy(path, target)


def run(folder, script, cores):
    """Runs a script in the root; returns its wall seconds, processor seconds and output."""
    inside = f"mount -t proc proc {folder}/proc && mount --rbind /dev {folder}/dev && exec chroot {folder} sh -ec \"$0\""
    environment = {name: value for name, value in os.environ.items() if name in PASSED_ON}
    begun, before = time.monotonic(), os.times()
    done = subprocess.run(["unshare", "--mount", "sh", "-ec", inside, f"cd /root; {script}"], check=False,
                          env={**environment, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"},
                          preexec_fn=lambda: os.sched_setaffinity(0, cores),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = os.times()
    wall = time.monotonic() - begun
    if done.returncode != 0:
        sys.exit(f"{script}: status {done.returncode}\n{done.stdout[-4000:]}")
    return wall, after[2] + after[3] - before[2] - before[3], done.stdout


def measure(way, options, cores):
    """Measures one way to install; returns True if the time is within the limit."""
    before, script, limit = WAYS[way]
    folder = options.root / way
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cp", "-a", options.root / "base", folder], check=True)
    copy_settings(folder, options.copy)
    subprocess.run(["git", "clone", "--quiet", "--bare", "--no-local", options.source, folder / "repository"], check=True)
    if way == "tarball":
        shutil.copy(options.tarball, folder / "tarball")
    if before:
        wall, processor, _ = run(folder, before, cores)
        print(f"{way}: before that {wall:.1f} s, {processor:.1f} s of processors")
    wall, processor, shown = run(folder, script, cores)
    if "MACs:          14.1 G" not in shown:
        sys.exit(f"{way}: no answer in\n{shown[-4000:]}")
    print(f"{way}: {wall:.1f} s, {processor:.1f} s of processors, limit {limit} s{'' if wall <= limit else ', TOO SLOW'}",
          flush=True)
    shutil.rmtree(folder)
    return wall <= limit


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("/tmp/first_answer"))
    parser.add_argument("--source", type=pathlib.Path, default=SOURCE)
    parser.add_argument("--tarball", type=pathlib.Path)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--copy", type=lambda path: pathlib.Path(path).absolute(), action="append", default=[])
    parser.add_argument("ways", metavar="WAY", nargs="*", help=", ".join(WAYS))
    options = parser.parse_args()
    ways = options.ways or list(WAYS)
    unknown = set(ways) - set(WAYS)
    if unknown:
        parser.error(f"WAY must be one of {', '.join(WAYS)}, got {', '.join(sorted(unknown))}")
    if options.tarball is None:
        options.tarball = next((options.source / "build" / "dist").glob("*-static.tar.gz"), None)
    if options.tarball is None and "tarball" in ways:
        parser.error("no tarball: tools/release makes it, or give --tarball")
    cores = sorted(os.sched_getaffinity(0))[:options.cores]
    options.root.mkdir(parents=True, exist_ok=True)
    make_base(options.root / "base")
    in_time = [measure(way, options, cores) for way in ways]
    return 0 if all(in_time) else 1


if __name__ == "__main__":
    sys.exit(main())
