"""The full-size test models, made once and kept outside of the repository.

They lie in models/HASH under ~/.cache/tenon, the hash being that of the scripts that
write them, so a changed script makes them anew.
"""

from __future__ import annotations

import dataclasses
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

import breadth  # pylint: disable=wrong-import-position
import trained  # pylint: disable=wrong-import-position
import zoo  # pylint: disable=wrong-import-position


@dataclasses.dataclass(frozen=True)
class Family:
  """Models that one script makes.

  Attributes:
    names: the models.
    script: what makes those that it is told, below --out.
    sources: every file that the models depend on.
    environment: which of tools/environments.py's runs the script.
  """

  names: list[str]
  script: pathlib.Path
  sources: list[pathlib.Path]
  environment: str

  def directory(self) -> pathlib.Path:
    """Where models of the current scripts belong."""
    digest = hashlib.sha256()
    for path in self.sources:
      digest.update(path.read_bytes())
    return environments.CACHE / "models" / digest.hexdigest()[:12]

  def ensure(self, names: list[str]) -> pathlib.Path:
    """Makes those of `names` that are missing; gives the folder that has all."""
    home = self.directory()
    missing = [n for n in names if not (home / n / "model.json").exists()]
    if not missing:
      return home
    print(f"making {', '.join(missing)} in {home} (once)", file=sys.stderr,
          flush=True)
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home) as temporary:
      made = subprocess.run(
          [environments.ensure(self.environment), self.script, "--out",
           temporary, *missing], capture_output=True, text=True, check=False)
      for name in missing:  # a rename: no half-written model is ever seen
        if (pathlib.Path(temporary) / name / "model.json").exists():
          shutil.rmtree(home / name, ignore_errors=True)
          (pathlib.Path(temporary) / name).rename(home / name)
      if made.returncode != 0:
        raise SystemExit(f"{self.script.name} failed:\n{made.stderr[-3000:]}")
    return home


NETWORKS = Family(
    ["resnet50", "mobilenetv2", "efficientnetb0", "inceptionv3", "densenet121",
     "bert4", "mlp"], HERE / "models.py",
    [HERE / "models.py", HERE / "architectures.py", TOOLS / "requirements.in"],
    "main")
ZOO = Family(
    list(zoo.NETWORKS), HERE / "zoo_models.py",
    [HERE / "zoo_models.py", HERE / "recording.py",
     *sorted((HERE / "zoo").glob("*.py")),
     HERE / "zoo" / "requirements.in"], "zoo")
BREADTH = Family(
    list(breadth.NETWORKS), HERE / "zoo_models.py",
    [HERE / "zoo_models.py", HERE / "recording.py", HERE / "zoo" / "network.py",
     *sorted((HERE / "breadth").glob("*.py")),
     HERE / "zoo" / "requirements.in"], "zoo")
TRAINED = Family(
    list(trained.NETWORKS), HERE / "trained_models.py",
    [HERE / "trained_models.py", HERE / "recording.py",
     *sorted((HERE / "trained").glob("*.py")),
     HERE / "trained" / "requirements.txt",
     HERE / "zoo" / "requirements.in"], "zoo")
FAMILIES = {"networks": NETWORKS, "zoo": ZOO, "breadth": BREADTH,
            "trained": TRAINED}

# The seven networks, which tests use too.
NAMES = NETWORKS.names
directory = NETWORKS.directory
ensure = NETWORKS.ensure
