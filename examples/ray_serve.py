"""ray_serve.py SERVER FOLDER: replicas of the model server under Ray Serve, which clients ask directly.

SERVER is tensorflow_model_server, FOLDER has the model's versions (FOLDER/1/saved_model.pb). Serve places the replicas,
watches over them and starts them again; requests and answers do not pass through Python.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request

import ray
import tenon.ray
from ray import serve


@serve.deployment(num_replicas=2, ray_actor_options={"num_cpus": 1}, health_check_period_s=5)
class ModelServer:
    """A server process on the replica's CPUs."""

    def __init__(self, program: str, folder: str) -> None:
        with socket.socket() as grpc, socket.socket() as rest:  # replicas of a node need ports of their own
            grpc.bind(("", 0))
            rest.bind(("", 0))
            grpc_port, self.port = grpc.getsockname()[1], rest.getsockname()[1]
        threads = max(1, int(tenon.ray.assigned_cpus() or 1))
        self.process = subprocess.Popen([
            program, "--model_name=model", f"--model_base_path={folder}", f"--port={grpc_port}", f"--rest_api_port={self.port}",
            "--bind_address=0.0.0.0", "--streams=1", f"--tensorflow_intra_op_parallelism={threads}", "--enable_batching"])
        for _ in range(600):
            try:
                return self.check_health()
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the server does not become ready")

    def check_health(self) -> None:
        """Raises if the server does not serve: then Serve replaces the replica."""
        if self.process.poll() is not None:
            raise RuntimeError(f"the server ended with {self.process.returncode}")
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/health/ready", timeout=5).close()

    def address(self) -> str:
        """Where clients find it."""
        return f"{ray.util.get_node_ip_address()}:{self.port}"

    def __del__(self) -> None:
        self.process.terminate()  # it answers what it has, then ends
        self.process.wait()


def addresses(handle: serve.handle.DeploymentHandle, replicas: int) -> list[str]:
    """Of all replicas. Serve asks any of them, so this asks until all have answered."""
    found: set[str] = set()
    for _ in range(100):
        found.add(handle.address.remote().result(timeout_s=60))
        if len(found) == replicas:
            break
    return sorted(found)


if __name__ == "__main__":
    ray.init("local", num_cpus=3, object_store_memory=200_000_000, include_dashboard=False, log_to_driver=False)
    servers = serve.run(ModelServer.bind(sys.argv[1], sys.argv[2]), route_prefix=None)
    known = addresses(servers, 2)
    image = [[[0.0]] * 8] * 8
    for known_address in known:
        body = json.dumps({"instances": [image]}).encode()
        with urllib.request.urlopen(f"http://{known_address}/v1/models/model:predict", body, timeout=30) as answer:
            assert len(json.load(answer)["predictions"][0]) == 10
    print(f"{len(known)} replicas answered")
    serve.shutdown()
    ray.shutdown()
