#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "runtime/explore/advice.h"
#include "runtime/explore/exploration.h"
#include "runtime/explore/machine_peak.h"
#include "runtime/explore/scopes.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 100 GFLOP/s and 10 GB/s: a product waits for its float weights below 20 multiply-adds each.
constexpr Machine kMachine{{100e9, 10e9}, /*bfloat16=*/true, /*cpus=*/1};

Model ModelOf(absl::string_view text) {
  Model model;
  auto g = ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  EXPECT_TRUE(testing::CompleteGraph(*g).ok());
  model.graph = *std::move(g);
  return model;
}

absl::StatusOr<std::vector<Tensor>> Zeros(const Session& session, int64_t unknown) {
  std::vector<Tensor> out;
  for (const TensorInfo& in : session.inputs()) {
    std::vector<int64_t> dims(in.shape.dims().begin(), in.shape.dims().end());
    for (int64_t& d : dims) d = d < 0 ? unknown : d;
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(in.dtype, Shape(dims)));
    std::memset(t.raw(), 0, t.bytes());
    out.push_back(std::move(t));
  }
  return out;
}

Exploration ExploreText(absl::string_view text, int64_t rows = 1, double seconds = 0.01) {
  SessionOptions options;
  options.flags = Flags();
  options.threads = 1;
  options.precision = Precision::kFloat;
  ExploreOptions wanted;
  wanted.seconds = seconds;
  wanted.inputs = [&](const Session& session) { return Zeros(session, rows); };
  auto e = Explore(ModelOf(text), options, wanted);
  EXPECT_TRUE(e.ok()) << e.status();
  return e.ok() ? *std::move(e) : Exploration();
}

// Sets the times of steps, so that advice does not depend on the machine.
void SetTimes(Exploration& e, const std::map<std::string, double>& ms_by_op) {
  e.total_ms = 0;
  for (ExploredStep& s : e.steps) {
    const auto it = ms_by_op.find(s.info.op);
    s.ms = it == ms_by_op.end() ? 0 : it->second;
    e.total_ms += s.ms;
  }
}

constexpr char kProduct[] = R"(
  in x = %x
  %x = Placeholder() {shape=<?,256>}
  %w = Const() {value=float<256,128>{random 1}}
  %b = Const() {value=float<128>{random 2}}
  %p = MatMul(%x, %w)
  %s = BiasAdd(%p, %b)
  %y = Relu(%s)
  out y = %y
)";

TEST(Explore, KnowsStepsAndTheirTimes) {
  const Exploration e = ExploreText(kProduct, 64);
  ASSERT_TRUE(e.planning.ok()) << e.planning;
  ASSERT_EQ(e.steps.size(), 1u);
  EXPECT_EQ(e.graph().node(e.steps[0].node).name, "y");
  EXPECT_EQ(e.steps[0].info.flops, 2.0 * 64 * 256 * 128);
  EXPECT_GT(e.runs, 0);
  EXPECT_GT(e.steps[0].ms, 0);
  EXPECT_THAT(e.misses, IsEmpty());
}

TEST(Explore, TellsWhyThereIsNoPlan) {
  SessionOptions options;
  options.flags = Flags();
  ExploreOptions wanted;
  wanted.inputs = [](const Session&) -> absl::StatusOr<std::vector<Tensor>> {
    return InvalidArgument("no such file");
  };
  auto e = Explore(ModelOf(kProduct), options, wanted);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(e->plan, nullptr);
  EXPECT_THAT(std::string(e->planning.message()), HasSubstr("no such file"));
}

TEST(Explore, WeighsWhatAlmostFused) {
  Exploration e = ExploreText(std::string(kProduct) +
                                  "%z = Max(%p, %axes)"
                                  "%axes = Const() {value=int32<1>{1}}"
                                  "out z = %z",
                              64);
  ASSERT_FALSE(e.misses.empty());
  const ExploredMiss& miss = e.misses.front();
  EXPECT_EQ(miss.miss.rule, "FuseMatMul");
  EXPECT_EQ(miss.miss.reason.kind, ReasonKind::kReader);
  EXPECT_EQ(miss.miss.reason.node, "p");
  // The product stays, what follows it would be free.
  double product = 0, rest = 0;
  for (const ExploredStep& s : e.steps) {
    if (s.info.node == "z") continue;
    (s.info.node == "p" ? product : rest) += s.ms;
  }
  EXPECT_DOUBLE_EQ(miss.saves_ms, product + rest - std::max(product, rest));
}

std::vector<Advice::Kind> KindsOf(const std::vector<Advice>& advice) {
  std::vector<Advice::Kind> kinds;
  for (const Advice& a : advice) kinds.push_back(a.kind);
  return kinds;
}

TEST(Advice, ComputeInBfloat16) {
  Exploration e = ExploreText(kProduct, 64);
  SetTimes(e, {{"_MklNativeFusedMatMul", 10}});
  EXPECT_EQ(LimitOf(e, e.steps[0], kMachine), Limit::kCompute);
  const std::vector<Advice> advice = Advise(e, kMachine);
  EXPECT_THAT(KindsOf(advice), ElementsAre(Advice::Kind::kBfloat16));
  EXPECT_EQ(advice[0].saves_ms, 5);
  Machine old = kMachine;
  old.bfloat16 = false;
  EXPECT_THAT(Advise(e, old), IsEmpty());
  e.precision = Precision::kBfloat16;
  EXPECT_THAT(Advise(e, kMachine), IsEmpty());
}

TEST(Advice, SmallWeights) {
  Exploration e = ExploreText(kProduct, 1);  // one row: two operations for each weight
  SetTimes(e, {{"_MklNativeFusedMatMul", 10}});
  EXPECT_EQ(LimitOf(e, e.steps[0], kMachine), Limit::kWeights);
  EXPECT_THAT(KindsOf(Advise(e, kMachine)), ElementsAre(Advice::Kind::kSmallWeights));
}

TEST(Advice, MoreThreads) {
  Exploration e = ExploreText(kProduct, 64);
  SetTimes(e, {{"_MklNativeFusedMatMul", 10}});
  Machine large = kMachine;
  large.cpus = 64;
  EXPECT_THAT(KindsOf(Advise(e, large)),
              ::testing::UnorderedElementsAre(Advice::Kind::kBfloat16, Advice::Kind::kThreads));
}

TEST(Advice, NearMissesAndReferenceKernelsByTheirTime) {
  Exploration e = ExploreText(R"(
    in x = %x
    %x = Placeholder() {shape=<?,256>}
    %w = Const() {value=float<256,128>{random 1}}
    %b = Const() {value=float<128>{random 2}}
    %p = MatMul(%x, %w)
    %s = BiasAdd(%p, %b)
    %axes = Const() {value=int32<1>{1}}
    %z = Max(%p, %axes)
    out s = %s
    out z = %z
  )",
                              64);
  SetTimes(e, {{"_MklNativeMatMul", 2}, {"_MklNativeBiasAdd", 5}, {"Max", 1}});
  for (ExploredMiss& m : e.misses) m.saves_ms = 5;
  const std::vector<Advice> advice = Advise(e, kMachine);
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice[0].kind, Advice::Kind::kNearMiss);
  EXPECT_THAT(advice[0].why, HasSubstr("'p' (MatMul) has another reader, 'z'"));
}

TEST(Advice, NeedsAProfileForMost) {
  const Exploration e = ExploreText(kProduct, 64, /*seconds=*/0);
  EXPECT_EQ(e.runs, 0);
  EXPECT_THAT(Advise(e, kMachine), IsEmpty());
}

TEST(ShortNames, LeaveOutWhatAllShare) {
  const ShortNames shorten({"a/b/c/conv", "a/b/d/conv", "a/b/d/relu", "x"});
  EXPECT_EQ(shorten.prefix(), "a/b/");
  EXPECT_EQ(shorten("a/b/c/conv"), "c/conv");
  EXPECT_EQ(shorten("x"), "x");
  EXPECT_EQ(ShortNames({"a/conv", "b/conv"}).prefix(), "");
  EXPECT_EQ(ShortNames({}).prefix(), "");
  EXPECT_THAT(ScopesOf("a/b/conv"), ElementsAre("a", "a/b"));
  EXPECT_THAT(ScopesOf("conv"), IsEmpty());
}

TEST(MachinePeak, TheBestOfTheFirstMeasurementsIsKept) {
  const std::string folder = ::testing::TempDir() + "/machine_peak";
  std::filesystem::remove_all(folder);
  MachinePeak best;
  for (int i = 0; i < 4; ++i) {
    const auto peak = PeakOf(1, Precision::kFloat, folder);
    ASSERT_TRUE(peak.ok()) << peak.status();
    EXPECT_GT(peak->flops_per_s, 0);
    EXPECT_GE(peak->flops_per_s, best.flops_per_s);
    EXPECT_GE(peak->bytes_per_s, best.bytes_per_s);
    best = *peak;
  }
  const auto kept = PeakOf(1, Precision::kFloat, folder);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept->flops_per_s, best.flops_per_s);  // two measurements would differ
  std::ofstream(folder + "/machine-peak.json") << "damaged";
  EXPECT_TRUE(PeakOf(1, Precision::kFloat, folder).ok());
}

}  // namespace
}  // namespace tenon
