"""Networks of TensorFlow 1: frozen graphs and checkpoints with their graphs.

Their graphs hold training, too, and take whether to train as an input, as their
packages feed it.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from trained import export, packages

v1 = tf.compat.v1
Import = Callable[[v1.Session], None]

NOT_TRAINING = np.array(False)


def _frozen(path: str) -> Import:

  def load(session: v1.Session) -> None:
    del session
    graph = v1.GraphDef()
    graph.ParseFromString(packages.find(path).read_bytes())
    tf.import_graph_def(graph, name="")

  return load


def _checkpoint(meta: str) -> Import:

  def load(session: v1.Session) -> None:
    file = packages.find(meta)
    model = v1.MetaGraphDef()
    model.ParseFromString(file.read_bytes())
    for node in model.graph_def.node:  # shapes that TensorFlow 2 infers otherwise
      node.attr.pop("_output_shapes", None)
    saver = v1.train.import_meta_graph(model, clear_devices=True)
    saver.restore(session, str(file).removesuffix(".meta"))

  return load


def _graph(load: Import, tensors: dict[str, str], outputs: dict[str, str],
           inputs: export.Inputs) -> export.Trained:
  """A network whose inputs and outputs are these tensors, by their new names."""

  def save(out: pathlib.Path) -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
      load(session)
      v1.saved_model.simple_save(
          session, str(out),
          {k: graph.get_tensor_by_name(t) for k, t in tensors.items()},
          {k: graph.get_tensor_by_name(t) for k, t in outputs.items()})

  return export.Trained(save, inputs)


def deepbrain() -> export.Trained:
  """The brain in a scan of 128 voxels a side: a U-Net of 3-D convolutions."""
  return _graph(_frozen("deepbrain/models/graph.pb"),
                {"img": "img:0", "training": "training:0"}, {"prob": "prob:0"},
                export.joined(export.uniform(0, 1, img=(128, 128, 128, 1)),
                              training=NOT_TRAINING))


def _fool(name: str) -> export.Trained:
  """Tags of 40 Chinese characters: `dynamic_rnn` of both directions."""

  def lengths(rng: np.random.Generator, batch: int) -> export.Arrays:
    return {"lengths": rng.integers(20, 41, batch).astype(np.int32)}

  return _graph(
      _frozen(f"foolnltk-*/data/{name}.pb"),
      {"chars": "char_inputs:0", "keep": "dropout:0", "lengths": "lengths:0"},
      {"logits": "project/logits:0", "transitions": "crf_loss/transitions:0"},
      export.joined(export.numbers(1, 5000, np.int32, chars=(40,)), lengths,
                    keep=np.float32(1)))


def fool_segmenter() -> export.Trained:
  return _fool("seg")


def fool_tagger() -> export.Trained:
  return _fool("pos")


def fool_names() -> export.Trained:
  return _fool("ner")


def chicksexer() -> export.Trained:
  """The gender of names of two words: an LSTM over letters, one over words."""
  names = ("X", "word_lens", "char_lens", "is_train")

  def inputs(rng: np.random.Generator, batch: int) -> export.Arrays:
    people = 4 * batch
    return {"X": rng.integers(1, 27, (people, 2, 9)).astype(np.int32),
            "word_lens": np.full(people, 2, np.int32),
            "char_lens": rng.integers(3, 10, 2 * people).astype(np.int32),
            "is_train": NOT_TRAINING}

  return _graph(_checkpoint("chicksexer/models/model.ckpt.meta"),
                {n: f"inputs/{n}:0" for n in names},
                {"y": "softmax_layer/Sigmoid:0"}, inputs)


def _music(name: str) -> export.Trained:
  """Tags of three seconds of music from their spectrum."""
  return _graph(_checkpoint(f"musicnn/{name}/.meta"),
                {"x": "model/Placeholder:0", "training": "model/Placeholder_2:0"},
                {"y": "model/Sigmoid:0"},
                export.joined(export.uniform(0, 4, x=(187, 96)),
                              training=NOT_TRAINING))


def musicnn_mtt() -> export.Trained:
  return _music("MTT_musicnn")


def musicnn_msd() -> export.Trained:
  return _music("MSD_musicnn")


def musicvgg_mtt() -> export.Trained:
  return _music("MTT_vgg")


def musicvgg_msd() -> export.Trained:
  return _music("MSD_vgg")
