// Loops that decode an image in each iteration: threads share the iterations, and the results are
// those of one thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "env/flags.h"
#include "graph/tensor.h"
#include "graph/text.h"
#include "ops/op.h"
#include "runtime/session/session.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

// Calls of TestMeet that wait for another one to be under way.
class Meeting {
 public:
  void Begin() {
    std::lock_guard<std::mutex> lock(mutex_);
    met_ = false;
  }
  void Call() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++inside_;
    if (inside_ >= 2) met_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(wait_), [this] { return met_; });
    --inside_;
  }
  // `seconds`: how long a call waits for another one.
  void Wait(int seconds) { wait_ = seconds; }
  bool met() const { return met_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0, wait_ = 0;
  bool met_ = false;
};
Meeting meeting;

absl::StatusOr<std::unique_ptr<Kernel>> Meet(PrepareContext& p) {
  return MakeKernel([](RunContext& run) {
    meeting.Call();
    *run.output<int32_t>(0) = *run.input<int32_t>(0);
    return absl::OkStatus();
  });
}
const OpRegistration meet_op({.name = "TestMeet",
                              .inputs = "x: int32",
                              .outputs = "y: int32",
                              .shape = UnchangedShape,
                              .reference = Meet});

constexpr char kArguments[] = R"(
  in k = %k
  in n = %n
  in i = %i
  in made = %made
  in sizes = %sizes
  in files = %files
  %k = Placeholder() {dtype=int32, shape=<>}
  %n = Placeholder() {dtype=int32, shape=<>}
  %i = Placeholder() {dtype=int32, shape=<>}
  %made = Placeholder() {dtype=variant, shape=<>}
  %sizes = Placeholder() {dtype=variant, shape=<>}
  %files = Placeholder() {dtype=variant, shape=<>}
  %one = Const() {dtype=int32, value=int32<>{1}}
)";

// tf.map_fn over files: gives the pixels of each, a number for each, and the counters at the end.
constexpr char kText[] = R"(
in files = %strings
%strings = Placeholder() {dtype=string, shape=<?>}
%zero = Const() {dtype=int32, value=int32<>{0}}
%two = Const() {dtype=int32, value=int32<>{2}}
%any = Const() {dtype=int32, value=int32<>{-1}}
%none = Const() {dtype=int32, value=int32<0>{}}
%n = Size(%strings) {T=string, out_type=int32}
%files = TensorListFromTensor(%strings, %none) {element_dtype=string, shape_type=int32}
%more = AddV2(%n, %two) {T=int32}
%made = TensorListReserve(%any, %n) {element_dtype=uint8, shape_type=int32}
%sizes = TensorListReserve(%any, %more) {element_dtype=int32, shape_type=int32}
%loop = StatelessWhile(%zero, %n, %two, %made, %sizes, %files) {T=[int32, int32, int32, variant, variant, variant], cond=@condition, body=@body}
%shape = Const() {dtype=int32, value=int32<3>{3, 5, 1}}
%pixels = TensorListStack(%loop:3, %shape) {element_dtype=uint8, num_elements=-1}
%numbers = TensorListStack(%loop:4, %none) {element_dtype=int32, num_elements=-1}
%ends = Pack(%loop:0, %loop:2) {T=int32, N=2, axis=0}
out pixels = %pixels
out numbers = %numbers
out ends = %ends
function condition {ARGUMENTS
  %r = Less(%k, %n) {T=int32}
  out r = %r
}
function body {ARGUMENTS
  %next = AddV2(%k, %one) {T=int32}
  %after = AddV2(%one, %i) {T=int32}
  %none = Const() {dtype=int32, value=int32<0>{}}
  %file = TensorListGetItem(%files, %k, %none) {element_dtype=string}
  %image = DecodePng(%file) {channels=1, dtype=uint8}
  %set = TensorListSetItem(%made, %k, %image) {element_dtype=uint8}
  %met = TestMeet(%i)
  %number = Mul(%met, NUMBER) {T=int32}
  %counted = TensorListSetItem(%sizes, %i, %number) {element_dtype=int32}
  out k = %next
  out n = %n
  out i = %after
  out made = %set
  out sizes = %counted
  out files = %files
}
)";

std::unique_ptr<Session> SessionOf(const std::string& text, const SessionOptions& options) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  auto session = Session::Create(*std::move(graph), options);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

std::unique_ptr<Session> Make(int threads, const std::string& number = "%k",
                              int64_t memory_limit = 0) {
  SessionOptions options;
  options.flags = *Flags::From([](const char*) { return std::nullopt; });
  options.threads = threads;
  options.memory_limit = memory_limit;
  return SessionOf(absl::StrReplaceAll(kText, {{"ARGUMENTS", kArguments}, {"NUMBER", number}}),
                   options);
}

// Files of 3x5 pixels, each with other ones.
Tensor Files(int64_t n) {
  const auto session = SessionOf(
      "in x = %x\n%x = Placeholder() {dtype=uint8, shape=<?,3,5,1>}\n"
      "%y = EncodePng(%x) {T=uint8, compression=-1}\nout y = %y",
      SessionOptions());
  Tensor pixels = *Tensor::Allocate(DType::kUint8, Shape({n, 3, 5, 1}));
  for (int64_t i = 0; i < pixels.num_elements(); ++i) {
    pixels.data<uint8_t>()[i] = static_cast<uint8_t>(i * 7);
  }
  auto files = session->Run({pixels});
  EXPECT_TRUE(files.ok()) << files.status();
  return (*files)[0];
}

class MapLoop : public ::testing::Test {
 public:
  void SetUp() override {
    if (!FindOp("DecodePng")) GTEST_SKIP() << "built without the ops of images";
  }
};

TEST_F(MapLoop, GivesWhatOneThreadGives) {
  meeting.Wait(0);
  auto alone = Make(1);
  for (const int threads : {2, 3, 8}) {
    auto session = Make(threads);
    for (const int64_t n : {5, 0, 1, 2, 13, 8}) {
      SCOPED_TRACE(absl::StrCat(threads, " threads, ", n, " files"));
      const Tensor files = Files(n);
      const auto want = alone->Run({files}), got = session->Run({files});
      ASSERT_TRUE(want.ok()) << want.status();
      ASSERT_TRUE(got.ok()) << got.status();
      for (size_t i = 0; i < want->size(); ++i) {
        EXPECT_TRUE(Identical((*got)[i], (*want)[i])) << "output " << i;
      }
      EXPECT_EQ((*got)[0].shape(), Shape({n, 3, 5, 1}));
      if (n == 0) continue;
      const int64_t last = n * 15 - 1;
      EXPECT_EQ((*got)[0].data<uint8_t>()[last], static_cast<uint8_t>(last * 7));
    }
  }
}

TEST_F(MapLoop, IterationsRunAtOnce) {
  meeting.Wait(20);
  auto session = Make(2);
  meeting.Begin();
  ASSERT_TRUE(session->Run({Files(4)}).ok());
  EXPECT_TRUE(meeting.met());
}

// The number that an iteration stores depends on what others stored.
TEST_F(MapLoop, IterationsThatReadTheListRunInTurn) {
  meeting.Wait(0);
  auto session = Make(
      4, "%length) {T=int32}\n  %length = TensorListLength(%sizes)\n  %unused = Mul(%one, %one");
  meeting.Begin();
  const auto got = session->Run({Files(6)});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_FALSE(meeting.met());
  EXPECT_EQ((*got)[1].data<int32_t>()[7], 7 * 8);
}

// Each iteration needs 20 MB or more.
TEST_F(MapLoop, IterationsRunInTurnWhereMemoryIsShort) {
  meeting.Wait(0);
  const std::string number = R"(%last) {T=int32}
  %size = Const() {dtype=int32, value=int32<1>{5000000}}
  %wide = BroadcastTo(%i, %size) {T=int32, Tidx=int32}
  %axis = Const() {dtype=int32, value=int32<>{0}}
  %sums = Cumsum(%wide, %axis) {T=int32, Tidx=int32, exclusive=false, reverse=false}
  %axes = Const() {dtype=int32, value=int32<1>{0}}
  %last = Max(%sums, %axes) {T=int32, Tidx=int32, keep_dims=false}
  %unused = Mul(%one, %one)";
  for (const int64_t limit : {int64_t{1} << 30, int64_t{72} << 20}) {
    auto session = Make(4, number, limit);
    for (int run = 0; run < 2; ++run) {
      const auto got = session->Run({Files(8)});
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ((*got)[1].data<int32_t>()[9], 9 * 9 * 5000000);
    }
  }
  EXPECT_TRUE(
      absl::IsResourceExhausted(Make(4, number, int64_t{10} << 20)->Run({Files(8)}).status()));
}

TEST_F(MapLoop, ReportsTheFirstBadFile) {
  meeting.Wait(0);
  for (const int threads : {1, 4}) {
    auto session = Make(threads);
    Tensor files = Files(6);
    Tensor changed = *files.Clone();
    changed.data<std::string>()[4] = "no image";
    const auto got = session->Run({changed});
    ASSERT_FALSE(got.ok());
    EXPECT_THAT(std::string(got.status().message()), HasSubstr("image"));
    EXPECT_TRUE(session->Run({files}).ok());  // nothing is lost
  }
}

}  // namespace
}  // namespace tenon
