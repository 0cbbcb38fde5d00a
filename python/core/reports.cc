#include "python/core/reports.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <vector>

#include "python/core/inspect.h"
#include "python/core/options.h"
#include "python/core/status.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

struct FreeProfile {
  void operator()(tenon_profile* profile) const { tenon_profile_free(profile); }
};

tenon_status* RunOnce(tenon_session* session, absl::Span<const tenon_tensor* const> inputs,
                      tenon_profile* profile) {
  tenon_run_options options = TENON_RUN_OPTIONS_INIT;
  options.profile = profile;
  std::vector<tenon_tensor*> outputs(static_cast<size_t>(tenon_session_num_outputs(session)));
  tenon_status* const status = tenon_session_run_with(
      session, &options, nullptr, inputs.data(), static_cast<int>(inputs.size()), nullptr,
      outputs.data(), static_cast<int>(outputs.size()));
  for (tenon_tensor* output : outputs) tenon_tensor_free(output);
  return status;
}

// No nodes: every op that has an accelerated kernel.
std::string Explain(nb::handle source, nb::dict given, const std::vector<std::string>& nodes) {
  const OwnedModel model = OpenModel(source);
  Options texts(given);
  const tenon_session_options options = texts.OfSession();
  std::vector<const char*> names;
  for (const std::string& node : nodes) names.push_back(node.c_str());
  tenon_text* report = nullptr;
  tenon_status* status = nullptr;
  {
    nb::gil_scoped_release release;
    status = tenon_model_explain(model.get(), &options, names.data(),
                                 static_cast<int>(names.size()), &report);
  }
  Check(status);
  return TakeText(report);
}

}  // namespace

std::string TakeText(tenon_text* text) {
  const std::string copy(tenon_text_data(text), tenon_text_size(text));
  tenon_text_free(text);
  return copy;
}

std::string Profile(tenon_session* session, absl::Span<const tenon_tensor* const> inputs,
                    int runs) {
  const std::unique_ptr<tenon_profile, FreeProfile> profile(tenon_profile_create());
  if (profile == nullptr) throw std::bad_alloc();
  tenon_status* status = nullptr;
  {
    nb::gil_scoped_release release;
    status = RunOnce(session, inputs, nullptr);  // builds the plan
    for (int i = 0; i < runs && status == nullptr; ++i) {
      status = RunOnce(session, inputs, profile.get());
    }
  }
  Check(status);
  tenon_text* report = nullptr;
  Check(tenon_profile_report(profile.get(), &report));
  return TakeText(report);
}

std::string Report(const tenon_session* session) {
  tenon_text* report = nullptr;
  Check(tenon_session_report(session, &report));
  return TakeText(report);
}

std::string ExplorePage(nb::handle source, nb::dict given,
                        absl::Span<const tenon_tensor* const> inputs, double seconds,
                        nb::handle second, nb::object second_given) {
  const OwnedModel model = OpenModel(source);
  Options texts(given);
  const tenon_session_options options = texts.OfSession();
  OwnedModel other;
  Options other_texts(second.is_none() ? given : nb::cast<nb::dict>(second_given));
  const tenon_session_options other_options = other_texts.OfSession();
  if (!second.is_none()) other = OpenModel(second);
  tenon_text* page = nullptr;
  tenon_status* status = nullptr;
  {
    nb::gil_scoped_release release;
    status = tenon_model_explore_page(model.get(), &options, inputs.data(),
                                      static_cast<int>(inputs.size()), seconds, other.get(),
                                      &other_options, &page);
  }
  Check(status);
  return TakeText(page);
}

void AddReports(nb::module_& module) {
  module.def("explain", Explain, nb::arg("source"), nb::arg("options"), nb::arg("nodes"));
}

}  // namespace tenon::python
