#!/usr/bin/env python3
"""A process that holds one of bench/text_models.py's models in TensorFlow; speaks as peer_worker does.

  text_worker.py SAVED_MODEL --inputs IN.npz --outputs OUT.npz [--threads N]
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import numpy as np
import peer_backends
import peer_worker


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("model", type=pathlib.Path)
  parser.add_argument("--inputs", type=pathlib.Path, required=True)
  parser.add_argument("--outputs", type=pathlib.Path, required=True)
  parser.add_argument("--threads", type=int, default=2)
  args = parser.parse_args()
  answer = peer_worker.answers()
  # pylint: disable=import-outside-toplevel
  import tensorflow as tf
  import tensorflow_text  # pylint: disable=unused-import  # registers its ops
  tf.config.threading.set_intra_op_parallelism_threads(args.threads)
  tf.config.threading.set_inter_op_parallelism_threads(args.threads)
  signature = tf.saved_model.load(str(args.model)).signatures["serving_default"]
  with np.load(args.inputs) as arrays:
    texts = tf.constant(arrays["texts"])
  run = lambda: signature(texts=texts)
  outputs = {k: v.numpy() for k, v in run().items()}
  np.savez(args.outputs, **{k: v.astype(np.bytes_) if v.dtype == object else v
                            for k, v in outputs.items()})
  backend = peer_backends.Backend(run, lambda: [], "")
  peer_worker.serve(answer, f"TensorFlow {tf.__version__}, TensorFlow Text "
                    f"{tensorflow_text.__version__}",
                    lambda seconds: peer_worker.measure(backend, seconds))
  return 0


if __name__ == "__main__":
  sys.exit(main())
