// What a model's graph became, where its time goes, and what it holds in memory: JSON, as
// tenon/reports.h describes it.
#ifndef TENON_PYTHON_CORE_REPORTS_H_
#define TENON_PYTHON_CORE_REPORTS_H_

#include <nanobind/nanobind.h>

#include <string>

#include "absl/types/span.h"
#include "tenon/tenon.h"

namespace tenon::python {

// Its text; frees it.
std::string TakeText(tenon_text* text);

// Runs the model once, and then `runs` times with a profile. With the GIL, which it releases.
std::string Profile(tenon_session* session, absl::Span<const tenon_tensor* const> inputs, int runs);
std::string Report(const tenon_session* session);
// The page of tenon_model_explore_page; `second` and its options may be None: one model.
std::string ExplorePage(nanobind::handle source, nanobind::dict options,
                        absl::Span<const tenon_tensor* const> inputs, double seconds,
                        nanobind::handle second, nanobind::object second_options);

void AddReports(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_REPORTS_H_
