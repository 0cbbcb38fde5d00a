"""Networks that their packages carry as SavedModels."""

from __future__ import annotations

import pathlib
import shutil

from trained import export, packages


def _copy(path: str, inputs: export.Inputs) -> export.Trained:
  source = packages.find(path)

  def save(out: pathlib.Path) -> None:
    shutil.copytree(source, out)

  return export.Trained(save, inputs)


def basic_pitch() -> export.Trained:
  """Notes in two seconds of music: a constant-Q transform and convolutions."""
  return _copy("basic_pitch/saved_models/icassp_2022/nmp",
               export.uniform(-0.3, 0.3, input_2=(43844, 1)))


def jaeger() -> export.Trained:
  """Phages among DNA: dilated convolutions over six reading frames."""
  frames = {name: (682,)
            for name in ("inputs", *(f"inputs_{i}" for i in range(1, 6)))}
  return _copy("jaeger/data/models/test/jaeger_fragment_graph",
               export.numbers(1, 21, **frames))
