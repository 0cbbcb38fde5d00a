"""The peer of bench/serve.py: a plain gRPC server that answers Predict by TensorFlow's saved_model.

  serve_peer.py SAVED_MODEL --port=PORT …

Other options are accepted, so that it starts like the server. It says that it is ready over HTTP on
--rest_api_port.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import http.server
import pathlib
import signal
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" /
                       "serve"))
import clients  # noqa: E402  the path is set above

clients.install()

import grpc  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow_serving.apis import predict_pb2  # noqa: E402
from tensorflow_serving.apis import prediction_service_pb2_grpc  # noqa: E402


class Predictions(prediction_service_pb2_grpc.PredictionServiceServicer):

  def __init__(self, path: str):
    self._model = tf.saved_model.load(path)
    self._run = self._model.signatures["serving_default"]

  def Predict(self, request, context):  # noqa: N802  gRPC's name
    outputs = self._run(**{name: tf.constant(tf.make_ndarray(tensor))
                           for name, tensor in request.inputs.items()})
    response = predict_pb2.PredictResponse()
    for name, tensor in outputs.items():
      response.outputs[name].CopyFrom(tf.make_tensor_proto(tensor.numpy()))
    return response


class Health(http.server.BaseHTTPRequestHandler):

  def do_GET(self):  # noqa: N802  the base class's name
    self.send_response(200)
    self.send_header("Content-Length", "0")
    self.end_headers()

  def log_message(self, *_):
    """Nothing: requests are many."""


def main() -> None:
  parser = argparse.ArgumentParser()
  parser.add_argument("model")
  parser.add_argument("--port", type=int, required=True)
  parser.add_argument("--rest_api_port", type=int, required=True)
  args, _ = parser.parse_known_args()
  signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
  server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), options=[
      ("grpc.max_receive_message_length", -1)])
  prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
      Predictions(args.model), server)
  server.add_insecure_port(f"127.0.0.1:{args.port}")
  server.start()
  health = http.server.ThreadingHTTPServer(("127.0.0.1", args.rest_api_port),
                                           Health)
  threading.Thread(target=health.serve_forever, daemon=True).start()
  signal.sigwait({signal.SIGTERM})
  server.stop(0)


if __name__ == "__main__":
  main()
