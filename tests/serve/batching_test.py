"""Requests that share a run."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import shutil
import tempfile
import unittest

import clients
from clients import DOUBLED
from clients import X

__all__ = ["Batching", "RecurrentBatching"]


def post_together(server: clients.Server, path: str, bodies: list) -> list:
  with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
    return list(pool.map(lambda body: server.post(path, body), bodies))


class Batching(unittest.TestCase):

  @classmethod
  def setUpClass(cls):
    cls.folder = pathlib.Path(tempfile.mkdtemp())
    cls.addClassCleanup(shutil.rmtree, cls.folder)
    clients.save_toy(cls.folder / "toy" / "1")
    parameters = cls.folder / "batching.config"
    # A quarter of a second for others to come, so that the tests need no luck.
    parameters.write_text("max_batch_size { value: 8 } "
                          "batch_timeout_micros { value: 250000 } "
                          "allowed_batch_sizes: 4 allowed_batch_sizes: 8 "
                          "pad_variable_length_inputs: true")
    cls.server = clients.Server(
        "--model_name=toy", f"--model_base_path={cls.folder / 'toy'}",
        "--enable_batching", f"--batching_parameters_file={parameters}")
    cls.addClassCleanup(cls.server.close)

  def ask_together(self, bodies):
    return post_together(self.server, "/v1/models/toy:predict", bodies)

  def stats(self):
    return json.loads(self.server.get("/v2/models/toy/stats")[1])[
        "model_stats"][0]

  def test_each_gets_its_rows(self):
    runs = self.stats()["execution_count"]
    rows = [[[float(i), 1.0, 2.0]] * (1 + i % 2) for i in range(16)]
    answers = self.ask_together([{"inputs": r} for r in rows])
    for row, (status, answer) in zip(rows, answers):
      self.assertEqual(status, 200)
      self.assertEqual(answer["outputs"]["y"],
                       [[2 * v for v in r] for r in row])
      self.assertEqual(answer["outputs"]["total"], [sum(r) for r in row])
    # 24 rows, 8 at most in a run.
    self.assertLess(self.stats()["execution_count"] - runs, 9)

  def test_numbers_of_rows_are_rounded(self):
    parameters = self.folder / "free.config"
    parameters.write_text("batch_timeout_micros { value: 250000 }")
    server = clients.Server(
        "--model_name=toy", f"--model_base_path={self.folder / 'toy'}",
        "--enable_batching", f"--batching_parameters_file={parameters}")
    self.addCleanup(server.close)
    rows = [[[i + j / 8, 1.0, 2.0] for j in range(7)] for i in range(5)]
    answers = post_together(server, "/v1/models/toy:predict",
                            [{"inputs": r} for r in rows])
    for row, (status, answer) in zip(rows, answers):
      self.assertEqual((status, answer["outputs"]["y"]),
                       (200, [[2 * v for v in r] for r in row]))
      self.assertEqual(answer["outputs"]["total"], [sum(r) for r in row])
    stats, = json.loads(server.get("/v2/models/toy/stats")[1])["model_stats"]
    # 35 rows and that of the warm-up; the 36th row of the batch is nobody's.
    self.assertEqual(stats["inference_count"], 36)

  def test_only_the_wrong_one_fails(self):
    good, bad = {"instances": X}, {"instances": [[1, 2, 3, 4]]}
    answers = self.ask_together([good, bad, good, good])
    self.assertEqual([status for status, _ in answers], [200, 400, 200, 200])
    for i in (0, 2, 3):
      self.assertEqual(answers[i][1]["predictions"][1]["y"], DOUBLED[1])

  def test_rows_that_depend_on_each_other_stay_apart(self):
    request = {"signature_name": "center", "inputs": X}
    self.server.post("/v1/models/toy:predict", request)  # loads the signature
    for status, answer in self.ask_together([request] * 3 + [
        {"signature_name": "center", "inputs": [[7, 8, 9]]}] * 3):
      self.assertEqual(status, 200)
      self.assertIn(answer["outputs"],
                    ([[-1.5, -1.5, -1.75], [1.5, 1.5, 1.75]], [[0, 0, 0]]))

  def test_lengths_are_padded(self):
    rows = [[1.0], [2.0, 3.0, 4.0], [5.0, 6.0]]
    request = {"signature_name": "ragged", "inputs": [[1.0]]}
    self.server.post("/v1/models/toy:predict", request)  # loads the signature
    runs = self.stats()["execution_count"]
    answers = self.ask_together([{"signature_name": "ragged", "inputs": [row]}
                                 for row in rows])
    self.assertEqual(self.stats()["execution_count"], runs + 1)
    # As long as the longest; the first element fills the rest, as in TensorFlow Serving.
    for row, (status, answer) in zip(rows, answers):
      padded = row + row[:1] * (3 - len(row))
      self.assertEqual((status, answer["outputs"]),
                       (200, [[2 * v for v in padded]]))

  def test_expired_requests_are_not_run(self):
    import grpc
    import numpy as np
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2
    from tensorflow_serving.apis import prediction_service_pb2_grpc
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "toy"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(np.float32(X)))
    stats = self.stats()
    runs = stats["execution_count"]
    failed = stats["inference_stats"]["fail"]["count"]
    with grpc.insecure_channel(self.server.grpc) as channel:
      stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
      with self.assertRaises(grpc.RpcError) as caught:
        stub.Predict(request, 0.1)
    self.assertEqual(caught.exception.code().name, "DEADLINE_EXCEEDED")
    self.server.wait_until(
        lambda: self.stats()["inference_stats"]["fail"]["count"] > failed)
    self.assertEqual(self.stats()["execution_count"], runs)

  def test_a_full_queue_refuses(self):
    # Strings are not put into batches, so nothing takes them from the queue while others wait.
    server = clients.Server(
        "--model_name=toy", f"--model_base_path={self.folder / 'toy'}",
        "--max_queued_requests=1", "--enable_batching",
        f"--batching_parameters_file={self.folder / 'batching.config'}")
    self.addCleanup(server.close)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
      codes = list(pool.map(lambda n: server.post(
          "/v1/models/toy:predict", {"signature_name": "echo", "instances": [
              {"text": "a", "number": [1, 2]}]} if n % 2 else
          {"instances": X})[0], range(8)))
    self.assertEqual(set(codes), {200, 429})


class RecurrentBatching(unittest.TestCase):
  """Recurrent layers, with and without masks, keep the sequences of a batch apart."""

  def save(self, folder: pathlib.Path):
    import keras
    import numpy as np
    layers = keras.layers
    keras.utils.set_random_seed(1)
    ids = keras.Input((9,), dtype="int32", name="ids")
    x = layers.Embedding(20, 6, mask_zero=True)(ids)
    x = layers.Bidirectional(layers.LSTM(5, return_sequences=True))(x)
    masked = layers.GRU(4)(x)
    x = layers.Embedding(20, 6)(ids)
    x = layers.LSTM(5, return_sequences=True)(x)
    plain = layers.LSTM(4)(x)
    model = keras.Model(ids, layers.Dense(3)(
        layers.Concatenate()([masked, plain])))
    model.export(folder, verbose=False)
    values = np.random.default_rng(2).integers(0, 20, (16, 9), np.int32)
    values[:8, -4:] = 0  # padding
    return values, model.predict(values, verbose=0)

  def test_sequences_share_a_run(self):
    import numpy as np
    folder = pathlib.Path(tempfile.mkdtemp())
    self.addCleanup(shutil.rmtree, folder)
    values, expected = self.save(folder / "m" / "1")
    parameters = folder / "batching.config"
    parameters.write_text("max_batch_size { value: 16 } "
                          "batch_timeout_micros { value: 250000 }")
    server = clients.Server("--model_name=m", f"--model_base_path={folder / 'm'}",
                            "--enable_batching",
                            f"--batching_parameters_file={parameters}")
    self.addCleanup(server.close)

    def runs():
      return json.loads(server.get("/v2/models/m/stats")[1])[
          "model_stats"][0]["execution_count"]

    before = runs()
    answers = post_together(server, "/v1/models/m:predict", [
        {"inputs": values[i:i + 2].tolist()} for i in range(0, 16, 2)])
    self.assertEqual(server.messages("requests are not put into batches"), [])
    self.assertLessEqual(runs() - before, 2)
    for i, (status, answer) in enumerate(answers):
      self.assertEqual(status, 200)
      # As in keras_layers.py: a dozen consecutive sums.
      np.testing.assert_allclose(answer["outputs"], expected[2 * i:2 * i + 2],
                                 atol=2e-5 * np.abs(expected).max())
