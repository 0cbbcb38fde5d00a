"""Reports: what a graph became, where its time goes, what a model holds. Each prints as text and, in a notebook, as
a table."""

from __future__ import annotations

import dataclasses
import html
import json
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from tenon import _tables


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of a run.

    Attributes:
      node, op: of the rewritten graph
      implementation: what computed it; "" if that is decided while running
      accelerated: False for reference kernels
      ms: milliseconds
      flop: floating-point operations; 0 where they are not counted
    """

    node: str
    op: str
    implementation: str
    accelerated: bool
    ms: float
    flop: float

    @property
    def gflops(self) -> float:
        """Billions of floating-point operations per second."""
        return self.flop / self.ms / 1e6 if self.ms > 0 else 0.0


@dataclasses.dataclass(frozen=True, repr=False)
class Profile:
    """Where the time of a run goes: its steps in order, with the means of the runs that were measured.

    Attributes:
      steps: a list of `Step`
      ms: milliseconds of the whole run
    """

    steps: List[Step]
    ms: float

    @property
    def by_op(self) -> Dict[str, float]:
        """Milliseconds per op, the largest first."""
        sums: Dict[str, float] = {}
        for step in self.steps:
            sums[step.op] = sums.get(step.op, 0.0) + step.ms
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def _slowest(self) -> List[Step]:
        return sorted(self.steps, key=lambda step: -step.ms)

    def __repr__(self) -> str:
        total = sum(step.ms for step in self.steps) or 1.0
        rows = [(f"{s.ms:.4f}", f"{100 * s.ms / total:.1f}%", f"{s.gflops:.1f}", s.node, s.op,
                 s.implementation or "(prepared while running)") for s in self._slowest()]
        return (f"{len(self.steps)} steps, {self.ms:.4f} ms\n" +
                _tables.to_text(("ms", "share", "GFLOP/s", "node", "op", "implementation"), rows))

    def _repr_html_(self) -> str:
        most = max((step.ms for step in self.steps), default=0.0) or 1.0
        rows = []
        for step in self._slowest():
            color = "#4a90d9" if step.accelerated else "#d98c4a"
            bar = (f'<div style="background:{color};height:0.8em;'
                   f'width:{max(1.0, 200 * step.ms / most):.0f}px"></div>')
            rows.append((f"{step.ms:.4f}", bar, f"{step.gflops:.1f}", html.escape(step.node),
                         html.escape(step.op), html.escape(step.implementation)))
        return (f"<p>{len(self.steps)} steps, {self.ms:.4f} ms</p>" +
                _tables.to_html(("ms", "", "GFLOP/s", "node", "op", "implementation"), rows))

    def to_chrome_trace(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a file for chrome://tracing and Perfetto: one run, step after step."""
        events: List[Dict[str, Any]] = []
        at = 0.0
        for step in self.steps:
            events.append({"name": step.node, "cat": step.op, "ph": "X", "pid": 1, "tid": 1,
                           "ts": at, "dur": step.ms * 1000,
                           "args": {"op": step.op, "implementation": step.implementation,
                                    "accelerated": step.accelerated, "GFLOP/s": step.gflops}})
            at += step.ms * 1000
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of one rewrite rule at a node: it fired, or the reason why not.

    Attributes:
      near_miss: it did not fire, but would after one change to the model, which `reason` names
    """

    rule: str
    fired: bool
    reason: str
    near_miss: bool = False


@dataclasses.dataclass(frozen=True)
class NodeExplanation:
    """A node of the model as loaded, and what rewriting made of it.

    Attributes:
      node, op: as loaded
      now, now_op: what computes it after rewriting; "" if it was removed or folded into a constant
      accelerated: whether that is an accelerated op
      rules: a `Verdict` for each rule that fired or was a real candidate
    """

    node: str
    op: str
    now: str
    now_op: str
    accelerated: bool
    rules: List[Verdict]

    def __str__(self) -> str:
        now = f"now {self.now!r} ({self.now_op})" if self.now else "removed"
        lines = [f"{self.node} ({self.op}): {now}"]
        lines += [f"  {v.rule}  {'fired: ' if v.fired else 'almost: ' if v.near_miss else ''}{v.reason}" for v in self.rules]
        return "\n".join(lines)


class Explanation(List[NodeExplanation]):
    """Explanations of nodes: a list that prints as text."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        rows = []
        for node in self:
            for verdict in node.rules:
                rows.append(tuple(map(html.escape, (
                    node.node, node.op, verdict.rule, "fired" if verdict.fired else "", verdict.reason))))
        return _tables.to_html(("node", "op", "rule", "", "reason"), rows)


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """What rewriting did when the model was loaded.

    Attributes:
      enabled: whether rewriting was on
      ms: milliseconds that it took
      rules: how often each rule fired
      ops_before, ops_after: the number of nodes per op
      note: a request that could not be met; usually ""
      error: why the model runs unchanged, if rewriting failed; usually ""
      threads: that an op may use
      details: everything, as include/tenon/reports.h describes it
    """

    enabled: bool
    ms: float
    rules: Dict[str, int]
    ops_before: Dict[str, int]
    ops_after: Dict[str, int]
    note: str
    error: str
    threads: int
    details: Dict[str, Any]

    def _summary(self) -> str:
        text = (f"{sum(self.ops_before.values())} nodes became {sum(self.ops_after.values())} "
                f"in {self.ms:.1f} ms")
        if not self.enabled:
            text = "rewriting is off"
        return "; ".join(part for part in (text, self.note, self.error) if part)

    def _rows(self) -> List[Tuple[str, str]]:
        return [(str(n), rule) for rule, n in sorted(self.rules.items(), key=lambda item: -item[1])]

    def __repr__(self) -> str:
        return self._summary() + "\n" + _tables.to_text(("fired", "rule"), self._rows())

    def _repr_html_(self) -> str:
        rows = [(n, html.escape(rule)) for n, rule in self._rows()]
        return f"<p>{html.escape(self._summary())}</p>" + _tables.to_html(("fired", "rule"), rows)


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes that a model holds, as far as it knows.

    Attributes:
      weights: plain values of constants
      packed: forms that kernels made of them
      plans: plans, and the memory of their runs
      primitives: oneDNN's compiled kernels, an estimate
      limit: the memory_limit that the model was loaded with; None: there is none, and the next two are None
      held: what counts against the limit now
      peak: the most that has counted
    """

    weights: int
    packed: int
    plans: int
    primitives: int
    limit: Optional[int] = None
    held: Optional[int] = None
    peak: Optional[int] = None

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.packed + self.plans + self.primitives
