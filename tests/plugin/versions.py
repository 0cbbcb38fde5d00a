#!/usr/bin/env python3
"""Runs the plug-in's tests in other versions of TensorFlow, with the same wheel.

    versions.py --site-packages BUILD/site-packages [--versions 2.19.1,2.20.0] [--sample] [Class.test…]

All tests take more than twenty minutes for each version; with --sample, a part of them (sample_test.py)
takes a few. Each version comes from PyPI, once, into an environment of its own beside tools/test.sh's (some
700 MB each).
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
VERSIONS = "2.19.1,2.20.0"


def environment(version):
    """Python of the environment with that TensorFlow."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    cache = pathlib.Path(os.environ.get("TENON_CACHE") or pathlib.Path(base) / "tenon")
    venv = cache / f"venv-tf-{version}"
    python = venv / "bin" / "python"
    stamp = venv / ".installed"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                        f"tensorflow-cpu=={version}"], check=True)
        stamp.touch()
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site-packages", required=True, type=pathlib.Path)
    parser.add_argument("--versions", default=VERSIONS)
    args, rest = parser.parse_known_args()
    results = {}
    for version in args.versions.split(","):
        python = environment(version)
        start = time.monotonic()
        done = subprocess.run([python, HERE / "plugin_test.py", "--python", python,
                               "--site-packages", args.site_packages, *rest], check=False)
        results[version] = done.returncode
        print(f"TensorFlow {version}: {'passed' if done.returncode == 0 else 'FAILED'} in "
              f"{time.monotonic() - start:.0f} s", flush=True)
    sys.exit(any(results.values()))


if __name__ == "__main__":
    main()
