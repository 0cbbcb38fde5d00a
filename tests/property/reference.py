"""TensorFlow's values, to compare with."""

from __future__ import annotations

from typing import Any

import graphs  # sets the environment before TensorFlow is imported
import numpy as np

tf1 = graphs.tf1


def run_tensorflow(definition: Any, feeds: dict[str, np.ndarray],
                   fetches: list[str]) -> dict[str, np.ndarray]:
  """With every graph optimization off. Feeds are by node, fetches tensors."""
  config = tf1.ConfigProto(intra_op_parallelism_threads=1,
                           inter_op_parallelism_threads=1)
  rewrite = config.graph_options.rewrite_options
  rewrite.disable_meta_optimizer = True
  config.graph_options.optimizer_options.opt_level = -1
  with graphs.tf.Graph().as_default() as graph:
    graphs.tf.import_graph_def(definition, name="")
    with tf1.Session(graph=graph, config=config) as session:
      values = session.run(fetches, {k + ":0": v for k, v in feeds.items()})
  return dict(zip(fetches, values))
