// Failures of every allocation while a model is loaded, planned and run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "env/status.h"
#include "graph/npz/npz.h"
#include "runtime/session/session.h"
#include "tests/faults/fault_sweep.h"
#include "tests/faults/long.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

using faults::Sweep;

// Before any test makes a primitive.
const bool may_be_refused = faults::SetMayBeRefused();

struct Model {
  std::string folder;  // under tests/models
  bool in_ci = false;
  std::string inputs = "inputs";
};
void PrintTo(const Model& m, std::ostream* out) { *out << m.folder; }

// Equal, or floats that another implementation has rounded in other places.
bool Close(const Tensor& a, const Tensor& b) {
  if (a.dtype() != DType::kFloat || a.shape() != b.shape()) return Identical(a, b);
  float scale = 0, difference = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    scale = std::max(scale, std::abs(b.data<float>()[i]));
    difference = std::max(difference, std::abs(a.data<float>()[i] - b.data<float>()[i]));
  }
  return difference <= 1e-5f * scale;
}

class AllocationFaults : public ::testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(may_be_refused);
    if (!GetParam().in_ci && !faults::Long()) GTEST_SKIP() << "only in the long form";
    auto inputs =
        ReadNpz(SourcePath("tests/models/" + GetParam().folder + "/" + GetParam().inputs + ".npz"));
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    inputs_ = *std::move(inputs);
    path_ = SourcePath("tests/models/" + GetParam().folder + "/saved_model");
    ASSERT_TRUE(Load().ok());
    auto outputs = session_->Run(inputs_);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    expected_ = *std::move(outputs);
    auto arranged = session_->Arrange(inputs_);
    ASSERT_TRUE(arranged.ok());
    arranged_ = *std::move(arranged);
    session_.reset();
  }

  absl::Status Load() {
    TENON_ASSIGN_OR_RETURN(session_, Session::Load(path_, {}, options_));
    return absl::OkStatus();
  }
  absl::Status Run() {
    TENON_ASSIGN_OR_RETURN(outputs_, session_->Run(inputs_));
    return absl::OkStatus();
  }
  // After a fault while planning, results need not have the same bits: oneDNN skips an
  // implementation that gets no memory.
  absl::Status CheckResults(bool same_kernels = true) {
    TENON_RETURN_IF_ERROR(Run());
    for (size_t i = 0; i < expected_.size(); ++i) {
      const auto& [name, expected] = expected_[i];
      const Tensor& got = outputs_[i].second;
      if (!(same_kernels ? Identical(got, expected) : Close(got, expected))) {
        return Internal("after the fault, output '", name, "' differs");
      }
    }
    outputs_.clear();
    session_.reset();
    return absl::OkStatus();
  }

  std::string path_;
  SessionOptions options_ = DefaultOptions(2);
  std::vector<NamedTensor> inputs_, expected_, outputs_;
  std::vector<Tensor> arranged_;
  std::unique_ptr<Session> session_;
};

class LoadFaults : public AllocationFaults {};
class PlanFaults : public AllocationFaults {};
class FirstRunFaults : public AllocationFaults {};
class LaterRunFaults : public AllocationFaults {};

TEST_P(LoadFaults, EachAllocation) {
  Sweep({.name = GetParam().folder + ", load",
         .prepare = [] { return absl::OkStatus(); },
         .run = [&] { return Load(); },
         .check =
             [&] {
               if (session_ == nullptr) TENON_RETURN_IF_ERROR(Load());
               return CheckResults(false);
             }},
        60);
}

TEST_P(PlanFaults, EachAllocation) {
  Sweep({.name = GetParam().folder + ", plan",
         .prepare = [&] { return Load(); },
         .run = [&] { return session_->PlanFor(arranged_).status(); },
         .check = [&] { return CheckResults(false); }},
        60);
}

TEST_P(FirstRunFaults, EachAllocation) {
  Sweep({.name = GetParam().folder + ", first run",
         .prepare =
             [&] {
               TENON_RETURN_IF_ERROR(Load());
               return session_->PlanFor(arranged_).status();
             },
         .run = [&] { return Run(); },
         .check = [&] { return CheckResults(); }},
        60);
}

TEST_P(LaterRunFaults, EachAllocation) {
  Sweep({.name = GetParam().folder + ", later run",
         .prepare =
             [&] {
               TENON_RETURN_IF_ERROR(Load());
               return Run();
             },
         .run = [&] { return Run(); },
         .check = [&] { return CheckResults(); }},
        60);
}

std::string NameOf(const ::testing::TestParamInfo<Model>& info) {
  std::string name = info.param.folder;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}
// Variables, tables, loops, branches, ragged text, recurrent layers; those of the long form last.
const auto kModels = ::testing::Values(
    Model{.folder = "mlp", .in_ci = true}, Model{.folder = "control/gru", .in_ci = true},
    Model{.folder = "loader/tables", .in_ci = true},
    Model{.folder = "control/branches", .in_ci = true, .inputs = "inputs_1"},
    Model{.folder = "text/words", .in_ci = true}, Model{.folder = "digits"},
    Model{.folder = "control/loops"});
INSTANTIATE_TEST_SUITE_P(
    Models, LoadFaults,
    ::testing::Values(Model{.folder = "mlp", .in_ci = true},
                      Model{.folder = "control/branches", .in_ci = true, .inputs = "inputs_1"},
                      Model{.folder = "loader/tables", .in_ci = true},
                      Model{.folder = "text/words", .in_ci = true}, Model{.folder = "control/gru"},
                      Model{.folder = "digits"}, Model{.folder = "control/loops"}),
    NameOf);
INSTANTIATE_TEST_SUITE_P(Models, PlanFaults, kModels, NameOf);
INSTANTIATE_TEST_SUITE_P(Models, FirstRunFaults, kModels, NameOf);
INSTANTIATE_TEST_SUITE_P(Models, LaterRunFaults, kModels, NameOf);

}  // namespace
}  // namespace tenon
