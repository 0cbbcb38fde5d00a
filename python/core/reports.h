// What a model's graph became, where its time goes, and what it holds in
// memory.
#ifndef TENON_PYTHON_CORE_REPORTS_H_
#define TENON_PYTHON_CORE_REPORTS_H_

#include <nanobind/nanobind.h>

#include "absl/types/span.h"
#include "tenon/tenon.h"

namespace tenon::python {

// Runs the model `runs` times; without the GIL. A dict: "steps", a list of
// (node, op, implementation, accelerated, prepared while running, FLOP, ns),
// with the times of the fastest of these runs; "wall_ns", how long that took.
nanobind::dict Profile(tenon_session* session, absl::Span<const tenon_tensor* const> inputs,
                       int runs);
// Bytes, by what they hold.
nanobind::dict Memory(const tenon_session* session);
// What rewriting did.
nanobind::dict Report(const tenon_session* session);

void AddReports(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_REPORTS_H_
