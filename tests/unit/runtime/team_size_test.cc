// Sessions on a machine that other work keeps busy: runs use fewer threads, and give the same bits.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "absl/strings/str_replace.h"
#include "env/cpu.h"
#include "env/thread_times.h"
#include "graph/text.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

constexpr char kArguments[] = R"(
  in i = %i
  in x = %x
  in w = %w
  %i = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {dtype=float, shape=<?,256>}
  %w = Placeholder() {dtype=float, shape=<256,256>}
)";

// Random numbers, of which each run gets others, through products in and after a loop.
constexpr char kText[] = R"(
in x = %x
%x = Placeholder() {dtype=float, shape=<?,256>}
%shape = Shape(%x) {T=float, out_type=int32}
%noise = RandomUniform(%shape) {T=int32, dtype=float, seed=3, seed2=7}
%start = AddV2(%x, %noise) {T=float}
%size = Const() {dtype=int32, value=int32<2>{256, 256}}
%seed = Const() {dtype=int32, value=int32<2>{1, 2}}
%w = StatelessRandomNormal(%size, %seed) {T=int32, Tseed=int32, dtype=float}
%zero = Const() {dtype=int32, value=int32<>{0}}
%loop = StatelessWhile(%zero, %start, %w) {T=[int32, float, float], cond=@more, body=@step}
%last = MatMul(%loop:1, %w) {T=float, transpose_a=false, transpose_b=true}
%y = Softmax(%last) {T=float}
out y = %y
function more {
  ARGUMENTS
  %n = Const() {dtype=int32, value=int32<>{4}}
  %r = Less(%i, %n) {T=int32}
  out r = %r
}
function step {
  ARGUMENTS
  %one = Const() {dtype=int32, value=int32<>{1}}
  %next = AddV2(%i, %one) {T=int32}
  %product = MatMul(%x, %w) {T=float, transpose_a=false, transpose_b=false}
  %bounded = Tanh(%product) {T=float}
  out i = %next
  out x = %bounded
  out w = %w
}
)";

std::unique_ptr<Session> Make(bool dynamic_threads) {
  auto graph = ParseGraph(absl::StrReplaceAll(kText, {{"ARGUMENTS", kArguments}}));
  EXPECT_TRUE(graph.ok()) << graph.status();
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.flags->dynamic_threads = dynamic_threads;
  options.threads = 2;
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

// Threads that want all CPUs.
class OtherWork {
 public:
  OtherWork() {
    for (int i = 0; i < AvailableCpus(); ++i) {
      threads_.emplace_back([this] {
        while (!over_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~OtherWork() {
    over_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

Tensor Rows(int64_t n) {
  Tensor x = *Tensor::Allocate(DType::kFloat, Shape({n, 256}));
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = static_cast<float>(i % 11) - 5;
  }
  return x;
}

TEST(TeamSize, RunsOnFewerThreadsGiveTheSameBits) {
  if (AvailableCpus() < 2) GTEST_SKIP() << "one CPU";
  ThreadTimes times[2];
  if (!ReadTeamTimes(times)) GTEST_SKIP() << "the system does not tell how long threads wait";
  auto dynamic = Make(true), fixed = Make(false);
  const Tensor few = Rows(33), many = Rows(64);
  const OtherWork other_work;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; dynamic->small_team_runs() < 20; ++i) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(60)) {
      GTEST_SKIP() << "other work does not make threads wait here";
    }
    const Tensor& x = i % 3 == 0 ? few : many;
    const auto got = dynamic->Run({x}), want = fixed->Run({x});
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(want.ok()) << want.status();
    ASSERT_TRUE(Identical((*got)[0], (*want)[0])) << "run " << i;
  }
  EXPECT_EQ(fixed->small_team_runs(), 0);
  EXPECT_EQ(dynamic->threads(), 2);
  EXPECT_EQ(dynamic->Plans().size(), 2u) << "those of all threads";
  EXPECT_GE(dynamic->plan_stats().entries, 3);
}

}  // namespace
}  // namespace tenon
