// Denormals are zero in a run, as in TensorFlow; the caller's own arithmetic is left as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "env/flags.h"
#include "graph/text.h"
#include "kernels/interface/parallel.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

constexpr float kDenormal = 1e-40f;
constexpr int64_t kSize = 1 << 20;

// A quotient at run time, and a folded reciprocal.
constexpr char kGraph[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?>}
%tiny = Const() {dtype=float, value=float<>{1e-30}}
%product = Mul(%tiny, %tiny) {T=float}
%y = RealDiv(%x, %x) {T=float}
%folded = Reciprocal(%product) {T=float}
out y = %y
out folded = %folded
)";

bool ComputesDenormals() {
  volatile float x = kDenormal;
  return x + x != 0;
}

class Denormals : public ::testing::TestWithParam<int> {};

TEST_P(Denormals, AreZeroOnAllThreads) {
  // OpenMP's helpers may be older than the session, and in the program's own mode.
  ParallelFor(GetParam(), 100, 1, [](int64_t, int64_t) {});
  ASSERT_TRUE(ComputesDenormals());
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = GetParam();
  auto session = Session::Create(*ParseGraph(kGraph), options);
  ASSERT_TRUE(session.ok()) << session.status();
  const Tensor x = Tensor::Vector(std::vector<float>(kSize, kDenormal));
  for (int i = 0; i < 2; ++i) {
    const auto outputs = (*session)->Run({x});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    const float* y = (*outputs)[0].data<float>();
    EXPECT_TRUE(std::all_of(y, y + kSize, [](float v) { return v != v; }));  // 0 / 0
    EXPECT_EQ(*(*outputs)[1].data<float>(), std::numeric_limits<float>::infinity());
  }
  EXPECT_TRUE(ComputesDenormals());
}

#ifdef __SANITIZE_THREAD__
const auto kThreads = ::testing::Values(1);  // it cannot see libgomp's barriers
#else
const auto kThreads = ::testing::Values(1, 2, 4);
#endif
INSTANTIATE_TEST_SUITE_P(Threads, Denormals, kThreads);

}  // namespace
}  // namespace tenon
