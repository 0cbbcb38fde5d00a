"""Networks that their packages carry as files of Keras 1 and 2."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import tf_keras

from trained import export, packages


class _OldGRU(tf_keras.layers.GRU):
  """As files of Keras 1 mean it, which do not say so."""

  def __init__(self, *args: Any, **options: Any):
    options.setdefault("reset_after", False)
    super().__init__(*args, **options)


class _ReversedLSTM(tf_keras.layers.LSTM):
  """rnnmorph's own layer: from the last step to the first."""

  def __init__(self, units: int, **options: Any):
    options["go_backwards"] = True
    super().__init__(units, **options)

  def call(self, inputs: Any, **options: Any) -> Any:
    return tf_keras.backend.reverse(super().call(inputs, **options), 1)


def _trained(model: Any, inputs: export.Inputs) -> export.Trained:

  def save(out: pathlib.Path) -> None:
    model.export(str(out))

  return export.Trained(save, inputs)


def _of_file(path: str, inputs: export.Inputs) -> export.Trained:
  return _trained(
      tf_keras.models.load_model(packages.find(path), compile=False,
                                 custom_objects={"GRU": _OldGRU}), inputs)


def spliceai() -> export.Trained:
  """Where genes are spliced: dilated convolutions over 10,101 bases."""
  return _of_file("spliceai/models/spliceai1.h5",
                  export.one_hot(4, input_1=10101))


def deepcut() -> export.Trained:
  """Words of Thai, 21 characters around each place."""
  source = packages.find("deepcut/model.py")
  spec = importlib.util.spec_from_file_location("deepcut_model", source)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  model = module.get_convo_nn2()
  model.load_weights(packages.find("deepcut/weight/cnn_without_ne_ab.h5"))
  places = 64  # a batch of 1 is a line of that many places
  characters = export.numbers(0, 170, input_1=(21,))
  kinds = export.numbers(0, 12, input_2=(21,))
  return _trained(model, export.joined(
      lambda rng, batch: characters(rng, places * batch),
      lambda rng, batch: kinds(rng, places * batch)))


def fer() -> export.Trained:
  """The emotion of a face of 64 by 64 pixels: separable convolutions."""
  return _of_file("fer/data/emotion_model.hdf5",
                  export.uniform(-1, 1, input_1=(64, 64, 1)))


def nakdimon() -> export.Trained:
  """The vowel points of 200 Hebrew letters: bidirectional LSTMs of 400 units."""
  return _of_file("nakdimon/Nakdimon.h5",
                  export.numbers(1, 40, input_1=(200,)))


def rnnmorph() -> export.Trained:
  """Parts of speech of nine Russian words, by letters and grammar."""
  home = "rnnmorph-*/rnnmorph/models/ru/eval_model"
  model = tf_keras.models.model_from_json(
      packages.find(f"{home}.json").read_text(encoding="utf-8"),
      custom_objects={"ReversedLSTM": _ReversedLSTM})
  model.load_weights(packages.find(f"{home}.h5"))
  return _trained(model, export.joined(
      export.uniform(0, 1, grammemes=(9, 56)),
      export.numbers(0, 20, chars=(9, 32))))


def seeker_tokens() -> export.Trained:
  """Phages among DNA: an LSTM of five units over 1,000 embedded bases."""
  return _of_file("seeker/models/model.h5",
                  export.numbers(0, 5, embedding_input=(1000,)))


def seeker_bases() -> export.Trained:
  """The same over bases as they are."""
  return _of_file("seeker/models/MatModel0.h5",
                  export.one_hot(4, lstm_input=1000))


def _shakkala(file: str, name: str, length: int) -> export.Trained:
  """The vowel marks of Arabic letters: stacked bidirectional layers."""
  return _of_file(f"shakkala/model/{file}.h5",
                  export.numbers(1, 90, **{name: (length,)}))


def shakkala_small() -> export.Trained:
  return _shakkala("simple_model", "embedding_2_input", 495)


def shakkala_middle() -> export.Trained:
  return _shakkala("middle_model", "embedding_5_input", 315)


def shakkala_large() -> export.Trained:
  return _shakkala("second_model6", "embedding_7_input", 315)
