// Models that change variables (tests/models/steps): consecutive runs in one session, compared with
// the outputs that TensorFlow gave for each; gate on and off, session cache on and off, one thread
// and two. A new session starts from the saved values. TENON_TEST_STEPS: another folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "graph/npz/npz.h"
#include "kernels/layout/copy.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"
#include "tests/support/settings.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

struct StepsCase {
  std::string name;  // of the test
  fs::path folder;
  std::string signature;
};

void PrintTo(const StepsCase& c, std::ostream* out) { *out << c.folder << " " << c.signature; }

std::vector<StepsCase> AllCases() {
  const char* const other = std::getenv("TENON_TEST_STEPS");
  const fs::path root = other == nullptr ? fs::path(SourcePath("tests/models/steps")) : other;
  std::vector<StepsCase> cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    std::string signature = entry.path().filename().string();
    if (!absl::StartsWith(signature, "steps_") || !absl::EndsWith(signature, ".npz")) continue;
    signature = std::string(absl::StripSuffix(absl::StripPrefix(signature, "steps_"), ".npz"));
    StepsCase c{absl::StrCat(entry.path().parent_path().filename().string(), "_", signature),
                entry.path().parent_path(), signature};
    std::replace_if(
        c.name.begin(), c.name.end(), [](unsigned char ch) { return !std::isalnum(ch); }, '_');
    cases.push_back(std::move(c));
  }
  std::sort(cases.begin(), cases.end(),
            [](const StepsCase& a, const StepsCase& b) { return a.name < b.name; });
  return cases;
}

int64_t Rows(const std::vector<NamedTensor>& stacked) {
  return stacked.empty() ? 0 : stacked[0].second.shape().dim(0);
}

// Row i of each tensor.
std::vector<NamedTensor> RowOf(const std::vector<NamedTensor>& stacked, int64_t i) {
  std::vector<NamedTensor> rows;
  for (const auto& [name, tensor] : stacked) {
    Shape shape;
    for (int d = 1; d < tensor.shape().rank(); ++d) shape.push_back(tensor.shape().dim(d));
    Tensor row = *Tensor::Allocate(tensor.dtype(), shape);
    const auto size = static_cast<int64_t>(row.dtype() == DType::kString ? sizeof(std::string)
                                                                         : SizeOf(row.dtype()));
    const int64_t before = i % Rows(stacked) * row.num_elements() * size;
    CopyElements(row.dtype(), static_cast<const char*>(tensor.raw()) + before, row.raw(),
                 row.num_elements());
    rows.emplace_back(name, std::move(row));
  }
  return rows;
}

template <typename T>
void ExpectClose(const Tensor& got, const Tensor& expected, double tolerance) {
  double scale = 0;
  for (const T e : expected.flat<T>()) {
    if (std::isfinite(e)) scale = std::max<double>(scale, std::abs(e));
  }
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double e = expected.data<T>()[i], g = got.data<T>()[i];
    if (!std::isfinite(e)) {
      EXPECT_TRUE(std::isnan(e) ? std::isnan(g) : e == g) << "element " << i << ": " << g;
    } else {
      EXPECT_NEAR(g, e, tolerance * scale + 1e-30) << "element " << i;
    }
  }
}

// Rounding errors pass from step to step through the variables: one step is accurate to a few units
// in the last place of float, and the error grows with the steps.
void ExpectStep(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& expected,
                int64_t step) {
  for (const auto& [name, tensor] : expected) {
    SCOPED_TRACE(absl::StrCat("step ", step, ", output ", name));
    const auto it = std::find_if(got.begin(), got.end(),
                                 [&name = name](const NamedTensor& t) { return t.first == name; });
    ASSERT_NE(it, got.end());
    ASSERT_EQ(it->second.dtype(), tensor.dtype());
    ASSERT_EQ(it->second.shape().ToString(), tensor.shape().ToString());
    if (tensor.dtype() == DType::kFloat) {
      ExpectClose<float>(it->second, tensor, 5e-6 * static_cast<double>(step + 1));
    } else if (tensor.dtype() == DType::kDouble) {
      ExpectClose<double>(it->second, tensor, 1e-13 * static_cast<double>(step + 1));
    } else {
      EXPECT_TRUE(Identical(it->second, tensor));
    }
  }
}

class StepsTest : public ::testing::TestWithParam<StepsCase> {};

TEST_P(StepsTest, FollowsTensorFlow) {
  const StepsCase& c = GetParam();
  const auto feeds = ReadNpz((c.folder / absl::StrCat("feeds_", c.signature, ".npz")).string());
  ASSERT_TRUE(feeds.ok()) << feeds.status();
  const auto steps = ReadNpz((c.folder / absl::StrCat("steps_", c.signature, ".npz")).string());
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_GT(Rows(*steps), 0);

  LoadOptions load;
  load.signature = c.signature;
  const auto model = LoadModel((c.folder / "saved_model").string(), load);
  ASSERT_TRUE(model.ok()) << model.status();
  for (const Setting& setting : AllSettings()) {
    SCOPED_TRACE(setting.label);
    auto session = Session::Create(model->graph, setting.options);
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_TRUE((*session)->report().status.ok()) << (*session)->report().status;
    for (int64_t step = 0; step < Rows(*steps); ++step) {
      const auto got = (*session)->Run(RowOf(*feeds, step));
      ASSERT_TRUE(got.ok()) << got.status();
      ExpectStep(*got, RowOf(*steps, step), step);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, StepsTest, ::testing::ValuesIn(AllCases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon
