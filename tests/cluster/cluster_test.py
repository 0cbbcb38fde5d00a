#!/usr/bin/env python3
"""Ray, Spark and Dask on small clusters on this machine; the conversion of Arrow's columns; manifests of Kubernetes.

  tests/cluster/cluster_test.py --build build [--all] [PART…]

Runs in an environment of its own (tools/environments.py cluster), which is made if it is missing. Each part is a file
PART_test.py and runs in a process of its own, with a limit of time; whatever it leaves running is ended.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import environments  # noqa: E402  the path is set above

SECONDS, ALL_SECONDS = 600, 1800  # of a part
_PR_SET_CHILD_SUBREAPER = 36


def children(of: int) -> list[int]:
  """The processes whose parent is `of`."""
  found = []
  for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
    try:
      text = stat.read_text()
    except OSError:
      continue
    if int(text.rpartition(")")[2].split()[1]) == of:
      found.append(int(stat.parent.name))
  return found


def end_orphans() -> int:
  """Ends what became this process's children when their parents ended; returns how many there were."""
  ended = 0
  deadline = time.monotonic() + 20
  while (left := children(os.getpid())) and time.monotonic() < deadline:
    for pid in left:
      ended += 1
      os.kill(pid, signal.SIGKILL)
    for pid in left:
      os.waitpid(pid, 0)
  return ended


def run_part(path: pathlib.Path, options: argparse.Namespace) -> bool:
  environment = dict(os.environ)
  environment["PYTHONPATH"] = os.pathsep.join([str(options.build / "python"), str(HERE)])
  environment["TENON_TEST_BUILD"] = str(options.build)
  environment["TENON_CLUSTER_TESTS"] = "all" if options.all else "short"
  environment.update({"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
                      "RAY_enable_worker_prestart": "0", "RAY_prestart_worker_first_driver": "0", "RAY_worker_niceness": "0",
                      "RAY_raylet_start_wait_time_s": "240",
                      "PYTHONWARNINGS": "ignore", "SPARK_LOCAL_IP": "127.0.0.1",
                      "PYSPARK_PYTHON": sys.executable})
  print(f"== {path.stem}", flush=True)
  start = time.monotonic()
  try:
    passed = subprocess.run([sys.executable, path, "-v"], env=environment, cwd=ROOT, check=False,
                            timeout=ALL_SECONDS if options.all else SECONDS).returncode == 0
  except subprocess.TimeoutExpired:
    print(f"{path.stem}: took too long", flush=True)
    passed = False
  end_orphans()
  print(f"{path.stem}: {'passed' if passed else 'FAILED'}, {time.monotonic() - start:.0f} s", flush=True)
  return passed


def main() -> int:
  environments.reexec("cluster")
  parts = sorted(HERE.glob("*_test.py"))
  names = [path.stem.removesuffix("_test") for path in parts if path.name != pathlib.Path(__file__).name]
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("--build", type=pathlib.Path, required=True)
  parser.add_argument("--all", action="store_true", help="the long tests too")
  parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(names))
  options = parser.parse_args()
  options.build = options.build.resolve()
  for name in set(options.parts) - set(names):
    parser.error(f"there is no part {name}")
  ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
  failed = [name for name in options.parts or names if not run_part(HERE / f"{name}_test.py", options)]
  print(f"failed: {', '.join(failed)}" if failed else "all parts passed")
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
