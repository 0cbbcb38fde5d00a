"""Models in Ray Data.

    import ray, tenon.ray
    ds = ray.data.read_parquet("images")
    ds = ds.map_batches(tenon.ray.Predictor, fn_constructor_kwargs=dict(model="my_model", columns={"image": "x"}),
                        batch_size=64, batch_format="pyarrow", num_cpus=4,
                        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=8))

docs/RAY.md describes it. Ray is not imported before a predictor is made.
"""

from __future__ import annotations

import importlib
import re
from typing import Any, Mapping, Optional

from tenon._images import Image
from tenon._model import Path
from tenon.arrow import Predictor as _Predictor

__all__ = ["Image", "Predictor", "assigned_cpus"]


def assigned_cpus() -> Optional[float]:
    """The CPUs that Ray gave the actor or task that calls this; None outside of them.

    They are asked from the runtime context: inside placement groups, the variable OMP_NUM_THREADS that Ray sets is
    wrong.
    """
    ray: Any = importlib.import_module("ray")
    if not ray.is_initialized() or ray.get_runtime_context().worker.mode != ray.WORKER_MODE:
        return None
    return _cpus_of(ray.get_runtime_context().get_assigned_resources())


def _cpus_of(resources: Mapping[str, float]) -> float:
    """
    >>> _cpus_of({"CPU": 4.0}), _cpus_of({"CPU_group_0_5d1a": 2.0, "CPU_group_5d1a": 2.0}), _cpus_of({"memory": 1e9})
    (4.0, 2.0, 0.0)
    """
    if "CPU" in resources:
        return float(resources["CPU"])
    # A bundle counts in its own resource and in that of its group.
    return max((float(n) for name, n in resources.items() if re.match(r"CPU_group_", name)), default=0.0)


class Predictor(_Predictor):
    """A class for `Dataset.map_batches`: runs a model in each actor of the pool.

    Args:
      model: its path, on every node
      threads: per op; by default the CPUs that Ray gave the actor (num_cpus), at least 1
      options: as `tenon.arrow.Predictor` documents them

    With batch_format="pyarrow" columns are read without a copy.
    """

    def __init__(self, model: Path, *, threads: Optional[int] = None, **options: Any) -> None:
        if threads is None:
            cpus = assigned_cpus()
            threads = 0 if cpus is None else max(1, int(cpus))
        super().__init__(model, threads=threads, **options)
