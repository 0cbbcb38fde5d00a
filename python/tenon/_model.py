"""Models."""

from __future__ import annotations

import collections
import concurrent.futures
import html
import json
import os
import threading
from typing import (Any, Callable, Deque, Dict, Iterable, Iterator, List, Mapping, MutableMapping,
                    Optional, Sequence, Tuple, Union)

import numpy as np

from tenon import _core, _spec, _tables
from tenon._errors import FailedPreconditionError
from tenon._generator import Generator
from tenon._numpy import bits_of
from tenon._page import Page
from tenon._report import (Explanation, Memory, NodeExplanation, Profile, Report, Step, Verdict)
from tenon._spec import Signature, TensorSpec

Array = np.ndarray[Any, Any]
Path = Union[str, "os.PathLike[str]"]


class Variables(MutableMapping[str, Array]):
    """The variables that a model changes, by name. They keep their values between runs.

    Reading gives a copy; assigning needs the variable's dtype and shape.
    """

    def __init__(self, session: _core.Session, cast: bool) -> None:
        self._session = session
        self._cast = cast

    def __getitem__(self, name: str) -> Array:
        if name not in self._session.variable_names():
            raise KeyError(name)
        return self._session.read_variable(name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._session.variable_names():
            raise KeyError(name)
        self._session.assign_variable(name, value, self._cast)

    def __delitem__(self, name: str) -> None:
        raise TypeError("a model's variables cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._session.variable_names())

    def __len__(self) -> int:
        return len(self._session.variable_names())

    def __repr__(self) -> str:
        return f"<variables {', '.join(self)}>"


class Model:
    """A loaded model: `tenon.load` makes it.

    Any number of threads may call it at once. It can be pickled (as its path and options), used after `fork`, and
    used as a context manager, which closes it.
    """

    def __init__(self, source: Union[str, bytes], options: Dict[str, Any]) -> None:
        self._source = source
        self._path = "in memory" if isinstance(source, bytes) else source
        self._options = dict(options)
        self._cast: bool = options["cast"]
        self._session = _core.Session(source, _session_options(self._options))
        self._run = self._session.run
        self._executor: Optional[concurrent.futures.ThreadPoolExecutor] = None
        self._executor_pid = 0
        self._lock = threading.Lock()

    # ---- running ----

    def __call__(self, /, *args: Any, **kwargs: Any) -> Dict[str, Array]:
        """Runs the model.

        Inputs are given by name, by position, or as one dict: `model(image=x)`, `model(x)`,
        `model({"image": x})`. None omits an optional input.

        Returns the outputs by name: NumPy arrays with memory of their own.

        Raises TypeError for a wrong dtype, ValueError for a wrong shape or an input that does not exist.

        >>> model = tenon.load("tests/models/mlp/saved_model")
        >>> out = model(np.zeros((2, 16), np.float32))
        >>> {name: value.shape for name, value in out.items()}
        {'output_0': (2, 1)}
        """
        return self._run(args, kwargs, self._cast)

    def run(self, feed: Mapping[str, Any], *, out: Optional[Mapping[str, Array]] = None,
            timeout: Optional[float] = None, cast: Optional[bool] = None) -> Dict[str, Array]:
        """Runs the model with inputs by name.

        Args:
          feed: the inputs by name
          out: arrays to write outputs to, by name: C-contiguous, of the output's dtype and shape. They become the
            results; if the run fails, their contents are undefined
          timeout: seconds; a run that takes longer ends between two steps, with DeadlineExceededError (a TimeoutError)
          cast: converts inputs of another dtype or memory layout; by default, as `load` was told

        >>> model = tenon.load("tests/models/mlp/saved_model")
        >>> y = np.empty((1, 1), np.float32)
        >>> model.run({"features": np.zeros((1, 16), np.float32)}, out={"output_0": y})["output_0"] is y
        True
        """
        return self._run_with(feed, None, out, timeout, cast)

    def _run_with(self, feed: Mapping[str, Any], cancel: Optional[_core.Cancel],
                  out: Optional[Mapping[str, Array]] = None, timeout: Optional[float] = None,
                  cast: Optional[bool] = None) -> Dict[str, Array]:
        placed: Optional[Dict[str, Array]] = None
        if out is not None:
            placed = {name: bits_of(array) for name, array in out.items()}
        results = self._run((dict(feed),), {}, self._cast if cast is None else cast, timeout, cancel, placed)
        if out is not None:
            results.update(out)
        return results

    def submit(self, feed: Mapping[str, Any]) -> concurrent.futures.Future[Dict[str, Array]]:
        """Starts a run on another thread. The future has its outputs, or its exception.

        >>> model = tenon.load("tests/models/mlp/saved_model")
        >>> future = model.submit({model.inputs[0].name: np.zeros((1, 16), np.float32)})
        >>> future.result()["output_0"].shape
        (1, 1)
        """
        return self._threads().submit(self.run, feed)

    async def run_async(self, feed: Mapping[str, Any]) -> Dict[str, Array]:
        """Runs the model on another thread, for `await`. Cancelling the task ends the run."""
        import asyncio  # it takes longer to import than this package

        cancel = _core.Cancel()
        try:
            return await asyncio.wrap_future(self._threads().submit(self._run_with, feed, cancel))
        except asyncio.CancelledError:
            cancel.request()
            raise

    def map(self, feeds: Iterable[Mapping[str, Any]], *,
            in_flight: int = 4) -> Iterator[Dict[str, Array]]:
        """The outputs for each feed, in order, with up to `in_flight` runs at a time.

        `feeds` may be endless: it is read only as far as needed.
        """
        if in_flight < 1:
            raise ValueError(f"in_flight must be at least 1, not {in_flight}")
        return self._map(iter(feeds), in_flight)

    def _map(self, feeds: Iterator[Mapping[str, Any]], in_flight: int) -> Iterator[Dict[str, Array]]:
        pending: Deque[concurrent.futures.Future[Dict[str, Array]]] = collections.deque()
        try:
            for feed in feeds:
                pending.append(self.submit(feed))
                if len(pending) >= in_flight:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()

    def _threads(self) -> concurrent.futures.ThreadPoolExecutor:
        with self._lock:
            if self._session.closed:
                raise FailedPreconditionError("the model is closed")
            # A child of fork() has none of the parent's threads.
            if self._executor is None or self._executor_pid != os.getpid():
                self._executor = concurrent.futures.ThreadPoolExecutor(
                    max_workers=_MOST_RUNS, thread_name_prefix="tenon")
                self._executor_pid = os.getpid()
            return self._executor

    def generator(self, *, tokens: Optional[str] = None, position: Optional[str] = None, logits: Optional[str] = None,
                  temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, seed: int = 0) -> Generator:
        """Tokens one by one, from a model whose signature is one step of a decoder: token ids in, logits out
        (docs/GENERATE.md).

        If the step changes variables, the model serves one generator at a time: `Generator.reset` starts the next text.

        Args:
          tokens: the input for token ids; by default, found by dtype and name
          position: the input for the position; by default, found by name, if there is one
          logits: the output with the logits; by default "logits", or the only float output
          temperature: 0: always the likeliest token
          top_k: only the k likeliest tokens; 0: all
          top_p: only the likeliest tokens that reach this probability; 1: all
          seed: of the random numbers that choose tokens

        Raises ValueError, with the model's inputs or outputs, if the signature is no such step.

        >>> model = tenon.load("tests/models/generate/variables")
        >>> generator = model.generator(temperature=0.8, top_p=0.95, seed=1)
        >>> len(list(generator.generate(list(b"The"), max_tokens=4)))
        4
        """
        return Generator(self._session, self._cast, tokens, position, logits, temperature, top_k, top_p, seed)

    # ---- what it is ----

    @property
    def path(self) -> str:
        """The path that it was loaded from."""
        return self._path

    @property
    def inputs(self) -> List[TensorSpec]:
        """What the model takes, in order.

        >>> tenon.load("tests/models/mlp/saved_model").inputs
        [TensorSpec('features', float32[?, 16])]
        """
        return [_spec.make(*spec) for spec in self._session.inputs()]

    @property
    def outputs(self) -> List[TensorSpec]:
        """What the model gives, in order."""
        return [_spec.make(*spec) for spec in self._session.outputs()]

    @property
    def signatures(self) -> Dict[str, Signature]:
        """All signatures of the model, by name; see `tenon.signatures`."""
        return _spec.signatures(self._source)

    @property
    def variables(self) -> Variables:
        """The variables that the model changes, by name: a mapping that can be assigned to."""
        return Variables(self._session, self._cast)

    # ---- what it does ----

    def profile(self, feed: Mapping[str, Any], *, runs: int = 10) -> Profile:
        """Measures a run step by step: means of `runs`.

        >>> model = tenon.load("tests/models/mlp/saved_model")
        >>> profile = model.profile({"features": np.zeros((1, 16), np.float32)})
        >>> profile.ms > 0 and sum(profile.by_op.values()) <= profile.ms
        True
        """
        if runs < 1:
            raise ValueError(f"runs must be at least 1, not {runs}")
        (plan,) = json.loads(self._session.profile((dict(feed),), {}, self._cast, runs))["plans"]
        steps = [Step(step["node"], step["op"], step["implementation"], step["accelerated"],
                      step["ns"] / runs / 1e6, step["flops"]) for step in plan["steps"]]
        return Profile(steps, plan["ns"] / runs / 1e6)

    def explain(self, *nodes: str) -> Explanation:
        """Why nodes were or were not rewritten: for each rule that could have involved one, that it fired, or
        the reason why not.

        nodes: names in the model as loaded; by default, every node whose op has an accelerated kernel.
        NotFoundError if there is no such node.

        >>> node = tenon.load("tests/models/mlp/saved_model").explain()[0]
        >>> node.op, node.now_op
        ('MatMul', '_MklNativeFusedMatMul')
        """
        found = json.loads(_core.explain(self._source, _session_options(self._options), list(nodes)))
        return Explanation(
            NodeExplanation(node["node"], node["op"], node["now"], node["now_op"], node["accelerated"],
                            [Verdict(rule["rule"], rule["fired"], rule["reason"], rule["near_miss"])
                             for rule in node["rules"]])
            for node in found["nodes"])

    def explore(self, feed: Optional[Mapping[str, Any]] = None, *, seconds: float = 0.5,
                against: Optional[Model] = None, path: Optional[Path] = None) -> Page:
        """The graph through all phases of rewriting, as a page to look at: what was fused and what almost was, with
        the plan, its memory and its times.

        Args:
          feed: inputs by name, for the plan and the times; without them, the graph alone
          seconds: how long to measure; 0: not at all
          against: another model, which takes the same inputs: both side by side, with differences marked
          path: a file to write the page to

        Returns a `Page`, which a notebook shows.

        >>> model = tenon.load("tests/models/mlp/saved_model")
        >>> page = model.explore({"features": np.zeros((1, 16), np.float32)}, seconds=0)
        >>> page.html.startswith("<!DOCTYPE html>")
        True
        """
        second = None if against is None else against._source
        second_options = None if against is None else _session_options(against._options)
        page = Page(self._session.explore_page(
            self._source, _session_options(self._options), None if feed is None else dict(feed), self._cast,
            seconds, second, second_options))
        if path is not None:
            page.save(path)
        return page

    @property
    def report(self) -> Report:
        """What rewriting did when the model was loaded."""
        found = json.loads(self._session.report())
        rewriting = found["rewriting"]
        rules: Dict[str, int] = {}
        for phase in rewriting.get("phases", ()):
            for rule in phase["rules"]:
                rules[rule["rule"]] = rules.get(rule["rule"], 0) + rule["fired"]
        return Report(found["onednn_opts"], rewriting.get("ms", 0.0), rules, rewriting.get("ops_before", {}),
                      rewriting.get("ops_after", {}), rewriting.get("note", ""), rewriting.get("status", ""),
                      found["threads"], found)

    def memory(self) -> Memory:
        """The bytes that the model holds.

        >>> tenon.load("tests/models/mlp/saved_model").memory().total > 0
        True
        """
        found = json.loads(self._session.report())["memory"]
        return Memory(found["weights"], found["packed"], found["plans"], found["primitives"],
                      found.get("limit"), found.get("held"), found.get("peak"))

    # ---- its life ----

    def close(self) -> None:
        """Frees the model's memory, when the runs that are under way have ended. Later calls fail."""
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None and self._executor_pid == os.getpid():
            executor.shutdown(wait=True)
        self._session.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._session.closed

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> Tuple[Callable[..., Model], Tuple[Union[str, bytes], Dict[str, Any]]]:
        source = self._source
        return Model, (source if isinstance(source, bytes) else os.path.abspath(source), self._options)

    def __repr__(self) -> str:
        if self.closed:
            return f"<tenon.Model {self._path!r}, closed>"
        takes = ", ".join(f"{spec.name}: {spec}" for spec in self.inputs)
        gives = ", ".join(spec.name for spec in self.outputs)
        return f"<tenon.Model {self._path!r} ({takes}) -> {gives}>"

    def _repr_html_(self) -> str:
        path = html.escape(str(self._path))
        if self.closed:
            return f"<p>{path}, closed</p>"
        rows = [(kind, *map(html.escape, (spec.name, spec.dtype, spec.shape_text)))
                for kind, specs in (("input", self.inputs), ("output", self.outputs)) for spec in specs]
        return f"<p>{path}</p>" + _tables.to_html(("", "name", "dtype", "shape"), rows)


# More concurrent runs gain nothing: each uses all threads of its model.
_MOST_RUNS = 32


def _session_options(options: Dict[str, Any]) -> Dict[str, Any]:
    """As the extension module takes them."""
    def joined(name: str, separator: str) -> Optional[str]:
        values: Optional[Sequence[str]] = options[name]
        return None if values is None else separator.join(values)

    onednn: Optional[bool] = options["onednn"]
    return {
        "signature": options["signature"], "threads": options["threads"],
        "onednn_opts": -1 if onednn is None else int(onednn), "precision": options["precision"],
        "cache_dir": options["cache_dir"], "fetches": joined("fetches", ","),
        "feeds": joined("feeds", ","), "tags": joined("tags", ","),
        "plugins": joined("plugins", ":"), "device": options["device"],
        "memory_limit": options["memory_limit"]}


def load(path: Union[Path, bytes], *, signature: Optional[str] = None, threads: int = 0,
         precision: Optional[str] = None, cache_dir: Optional[Path] = None,
         fetches: Optional[Sequence[str]] = None, feeds: Optional[Sequence[str]] = None,
         tags: Optional[Sequence[str]] = None, plugins: Optional[Sequence[str]] = None,
         device: Optional[str] = None, onednn: Optional[bool] = None, cast: bool = False,
         memory_limit: Optional[int] = None) -> Model:
    """Loads a model: a SavedModel folder, or a frozen GraphDef (.pb, .pbtxt), or the bytes of one.

    Args:
      signature: of a SavedModel; "serving_default" by default
      threads: per op. 0: TF_NUM_INTRAOP_THREADS, OMP_NUM_THREADS, otherwise all CPUs that the process may use
      precision: of contractions and the ops between them: "fp32", or "bf16" if the CPU has instructions for it; by
        default, as TF_SET_ONEDNN_FPMATH_MODE says
      cache_dir: a folder that keeps the rewritten model, so that the next start is fast
      fetches: names of the graph's tensors ("logits:0") to compute instead of the model's outputs
      feeds: names of inner tensors that are inputs too; what only they needed does not run
      tags: of the SavedModel's graph; "serve" by default
      plugins: device plug-ins, files or folders; device: the one to run on ("APU:0")
      onednn: False leaves the graph unchanged and runs reference kernels; by default, as
        TF_ENABLE_ONEDNN_OPTS says
      cast: convert inputs of another dtype or memory layout instead of refusing them
      memory_limit: the most bytes that weights, plans and runs may take, results that are still held included. What
        does not fit, at loading or in a run, is a ResourceExhaustedError that names the node

    Raises NotFoundError (a FileNotFoundError) if there is no model, InvalidArgumentError (a ValueError) if it is
    damaged, UnimplementedError if it has an op that Tenon does not have.

    >>> model = tenon.load("tests/models/mlp/saved_model")
    >>> model.outputs[0].name
    'output_0'
    """
    def names(values: Optional[Sequence[str]]) -> Optional[List[str]]:
        return None if values is None else [values] if isinstance(values, str) else list(values)

    options = {"signature": signature, "threads": threads, "precision": precision,
               "cache_dir": None if cache_dir is None else os.fspath(cache_dir),
               "fetches": names(fetches), "feeds": names(feeds), "tags": names(tags),
               "plugins": names(plugins), "device": device, "onednn": onednn, "cast": cast,
               "memory_limit": 0 if memory_limit is None else memory_limit}
    if memory_limit is not None and memory_limit <= 0:
        raise ValueError("memory_limit must be positive")
    return Model(path if isinstance(path, bytes) else os.fspath(path), options)
