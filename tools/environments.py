#!/usr/bin/env python3
"""Python environments outside the repository, created when missing.

  tools/environments.py main|peers|zoo|packages|explorer|cluster|types|wheels  # prints its python

`main` has TensorFlow (tools/requirements.txt), `peers` also everything that bench/compare
measures (bench/requirements.txt), `zoo` the packages whose models its second table has, `packages`
those whose generating models tests export, `explorer` the driver of a browser, `cluster` Ray, Spark
and Dask, `types` mypy and pyright, `wheels` what builds and checks wheels. Each requirements.txt is written by tools/pin.sh. They are in ~/.cache/tenon, or in
the folder TENON_CACHE.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The same paths and stamps as in tools/lib/common.sh.
CACHE = pathlib.Path(os.environ.get("TENON_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") /
                     "tenon")
KINDS = {"main": ("venv", ROOT / "tools" / "requirements.txt"),
         "peers": ("venv-peers", ROOT / "bench" / "requirements.txt"),
         "zoo": ("venv-zoo", ROOT / "tests" / "makers" / "zoo" /
                 "requirements.txt"),
         "packages": ("venv-packages", ROOT / "tests" / "makers" /
                      "packages" / "requirements.txt"),
         "explorer": ("venv-explorer", ROOT / "tests" / "explorer" /
                      "requirements.txt"),
         "cluster": ("venv-cluster", ROOT / "tests" / "cluster" /
                     "requirements.txt"),
         "types": ("venv-types", ROOT / "tests" / "python" /
                   "requirements.txt"),
         "wheels": ("venv-wheels", ROOT / "tools" / "wheel_requirements.txt")}


def ensure(kind: str) -> pathlib.Path:
  """The python of an environment, which is created if it is missing.

  A change of its requirements installs them again. Processes that need it at
  the same time wait for the one that installs.
  """
  name, requirements = KINDS[kind]
  home = CACHE / name
  python = home / "bin" / "python"
  digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
  stamp = home / f".tenon-{digest}"
  if stamp.exists():
    return python
  CACHE.mkdir(parents=True, exist_ok=True)
  with open(CACHE / f"{name}.lock", "w", encoding="ascii") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not stamp.exists():
      _install(home, python, requirements)
      stamp.touch()
  return python


def _install(home: pathlib.Path, python: pathlib.Path,
             requirements: pathlib.Path) -> None:
  print(f"installing {requirements.relative_to(ROOT)} into {home} (once)",
        file=sys.stderr, flush=True)
  try:
    if not python.exists():
      subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", "--requirement",
                    requirements], check=True)
  except subprocess.CalledProcessError as error:
    raise SystemExit(f"cannot install into {home}: {error}\n"
                     "(Debian: apt-get install python3-venv)") from error


def reexec(kind: str) -> None:
  """Continues in the environment's python, unless this is it."""
  python = ensure(kind)
  if pathlib.Path(sys.prefix) != python.parent.parent:
    os.execv(python, [str(python), *sys.argv])


def borrow(folder: pathlib.Path, python: pathlib.Path,
           extra: pathlib.Path | None = None) -> pathlib.Path:
  """The python of a new environment in `folder` with the packages of `python`'s environment,

  and those in the folder `extra`, as if they were installed too.
  """
  subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
  (site,) = folder.glob("lib/python3*/site-packages")
  borrowed = subprocess.run(
      [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
      check=True, capture_output=True, text=True).stdout
  (site / "borrowed.pth").write_text(borrowed)
  for entry in extra.resolve().iterdir() if extra else []:
    (site / entry.name).symlink_to(entry)
  return folder / "bin" / "python"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
  parser.add_argument("kind", choices=KINDS)
  print(ensure(parser.parse_args().kind))
  return 0


if __name__ == "__main__":
  sys.exit(main())
