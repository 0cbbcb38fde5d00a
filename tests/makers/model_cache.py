"""The full-size test models, made once and kept outside of the repository.

They lie in models/HASH under ~/.cache/tenon, the hash being that of the scripts that
write them, so a changed script makes them anew.
"""

from __future__ import annotations

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parents[1] / "tools"
sys.path.insert(0, str(TOOLS))

import environments  # pylint: disable=wrong-import-position

NAMES = ["resnet50", "mobilenetv2", "efficientnetb0", "inceptionv3",
         "densenet121", "bert4", "mlp"]


def directory() -> pathlib.Path:
  """Where models of the current scripts belong."""
  digest = hashlib.sha256()
  for path in (HERE / "models.py", HERE / "architectures.py", TOOLS / "requirements.txt"):
    digest.update(path.read_bytes())
  return environments.CACHE / "models" / digest.hexdigest()[:12]


def ensure(names: list[str]) -> pathlib.Path:
  """Makes those of `names` that are missing; gives the folder that has all."""
  home = directory()
  missing = [n for n in names if not (home / n / "model.json").exists()]
  if not missing:
    return home
  print(f"making {', '.join(missing)} in {home} (once)", file=sys.stderr,
        flush=True)
  home.mkdir(parents=True, exist_ok=True)
  with tempfile.TemporaryDirectory(dir=home) as temporary:
    made = subprocess.run(
        [environments.ensure("main"), HERE / "models.py", "--out", temporary,
         *missing], capture_output=True, text=True, check=False)
    if made.returncode != 0:
      raise SystemExit(f"tests/makers/models.py failed:\n{made.stderr[-3000:]}")
    for name in missing:  # a rename: no half-written model is ever seen
      shutil.rmtree(home / name, ignore_errors=True)
      (pathlib.Path(temporary) / name).rename(home / name)
  return home
