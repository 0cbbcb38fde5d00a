"""Networks that their packages carry as SavedModels."""

from __future__ import annotations

import pathlib
import shutil

import numpy as np

from trained import export, packages

# Without the spaces that quickspacer puts between words.
SENTENCES = ["아버지가방에들어가신다", "오늘은날씨가참좋네요이제집에가자",
             "한국어띄어쓰기를고쳐주는프로그램입니다"]


def _copy(path: str, inputs: export.Inputs) -> export.Trained:
  source = packages.find(path)

  def save(out: pathlib.Path) -> None:
    shutil.copytree(source, out)

  return export.Trained(save, inputs)


def basic_pitch() -> export.Trained:
  """Notes in two seconds of music: a constant-Q transform and convolutions."""
  return _copy("basic_pitch/saved_models/icassp_2022/nmp",
               export.uniform(-0.3, 0.3, input_2=(43844, 1)))


def _quickspacer(version: int) -> export.Trained:
  """Spaces in Korean sentences: strings in, strings out."""

  def inputs(rng: np.random.Generator, batch: int) -> export.Arrays:
    return {"texts": np.array([SENTENCES[i] for i in rng.integers(0, 3, batch)])}

  return _copy(f"quickspacer/resources/default_saved_model/{version}", inputs)


def quickspacer1() -> export.Trained:
  return _quickspacer(1)


def quickspacer2() -> export.Trained:
  return _quickspacer(2)


def quickspacer3() -> export.Trained:
  return _quickspacer(3)


def jaeger() -> export.Trained:
  """Phages among DNA: dilated convolutions over six reading frames."""
  frames = {name: (682,)
            for name in ("inputs", *(f"inputs_{i}" for i in range(1, 6)))}
  return _copy("jaeger/data/models/test/jaeger_fragment_graph",
               export.numbers(1, 21, **frames))
