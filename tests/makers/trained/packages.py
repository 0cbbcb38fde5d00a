"""The packages, unpacked beside the other caches."""

from __future__ import annotations

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import environments

REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "requirements.txt"


def _unpack(archive: pathlib.Path, to: pathlib.Path) -> None:
  if archive.suffix == ".whl":
    with zipfile.ZipFile(archive) as wheel:
      wheel.extractall(to)
  else:
    with tarfile.open(archive) as source:
      source.extractall(to, filter="data")


def folder() -> pathlib.Path:
  """Where all packages lie, downloaded if they are missing; pip checks their hashes."""
  digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
  home = environments.CACHE / "trained" / digest
  if home.exists():
    return home
  home.parent.mkdir(parents=True, exist_ok=True)
  with tempfile.TemporaryDirectory(dir=home.parent) as temporary:
    archives, unpacked = (pathlib.Path(temporary) / n for n in ("archives", "unpacked"))
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q",
         "--disable-pip-version-check", "--no-deps", "-r", REQUIREMENTS, "-d",
         archives], check=True)
    for archive in sorted(archives.iterdir()):
      _unpack(archive, unpacked)
    shutil.move(unpacked, home)
  return home


def find(path: str) -> pathlib.Path:
  """A file or folder of a package; an error if the package has none of that name."""
  found = sorted(folder().glob(path))
  if len(found) != 1:
    raise FileNotFoundError(f"{path}: {len(found)} in {folder()}")
  return found[0]
