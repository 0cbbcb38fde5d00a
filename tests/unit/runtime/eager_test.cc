#include "runtime/eager/eager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/eager/eager_queue.h"
#include "tests/unit/runtime/test_ops.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using testing::Floats;
using ::testing::HasSubstr;

std::unique_ptr<Eager> Make(bool onednn_opts) {
  SessionOptions options;
  options.flags = Flags();
  options.flags->onednn_opts = onednn_opts;
  options.flags->cache_entries = 100;
  options.flags->cache_bytes = 1 << 20;
  options.threads = 1;
  return *Eager::Create(options);
}

TEST(Eager, RunsWithTheGateOnAndOff) {
  for (bool gate : {true, false}) {
    auto eager = Make(gate);
    auto relu = eager->Execute("Relu", {Floats({3}, {-1, 0, 2})});
    ASSERT_TRUE(relu.ok()) << relu.status();
    EXPECT_THAT((*relu)[0].flat<float>(), ElementsAre(0, 0, 2));
    auto product = eager->Execute("MatMul", {Floats({1, 2}, {1, 2}), Floats({2, 1}, {3, 4})});
    ASSERT_TRUE(product.ok()) << product.status();
    EXPECT_THAT((*product)[0].flat<float>(), ElementsAre(11));
  }
}

TEST(Eager, FillsAttributesFromInputs) {
  auto eager = Make(true);
  auto joined = eager->Execute("ConcatV2",
                               {Floats({2}, {1, 2}), Floats({1}, {3}), Tensor::Scalar<int32_t>(0)});
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_THAT((*joined)[0].flat<float>(), ElementsAre(1, 2, 3));
  // Two lists of one length.
  auto stitched = eager->Execute("DynamicStitch",
                                 {Tensor::Vector<int32_t>({2, 0}), Tensor::Vector<int32_t>({1}),
                                  Floats({2}, {1, 2}), Floats({1}, {3})});
  ASSERT_TRUE(stitched.ok()) << stitched.status();
  EXPECT_THAT((*stitched)[0].flat<float>(), ElementsAre(2, 3, 1));
}

TEST(Eager, SeededNumbersContinueWhateverTheCacheKeeps) {
  const AttrMap attrs = {{"seed", int64_t{1}}, {"seed2", int64_t{2}}, {"dtype", DType::kFloat}};
  const auto draw = [&](int64_t entries) {
    SessionOptions options;
    options.flags = Flags();
    options.flags->cache_entries = entries;
    auto eager = *Eager::Create(options);
    std::vector<float> all;
    for (int32_t n : {3, 2, 3}) {
      auto numbers = eager->Execute("RandomUniform", {Tensor::Vector<int32_t>({n})}, attrs);
      EXPECT_TRUE(numbers.ok()) << numbers.status();
      for (float x : (*numbers)[0].flat<float>()) all.push_back(x);
      EXPECT_TRUE(eager->Execute("Neg", {Floats({1}, {1})}).ok());  // evicts where one is kept
    }
    return all;
  };
  const std::vector<float> kept = draw(100);
  EXPECT_NE(kept[0], kept[3]);
  EXPECT_NE(kept[0], kept[5]);
  EXPECT_EQ(draw(0), kept);
  EXPECT_EQ(draw(1), kept);
}

TEST(Eager, KernelsAreKeptByShapeAndByTheValuesTheyRead) {
  auto eager = Make(true);
  const Tensor x = Floats({2}, {1, 2});
  for (int32_t n : {1, 2, 1, 2}) {
    auto y = eager->Execute("TestRepeat", {x, Tensor::Vector<int32_t>({n})});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].num_elements(), 2 * n);
  }
  EXPECT_EQ(eager->kernel_stats().misses, 2);
  EXPECT_EQ(eager->kernel_stats().hits, 2);
}

TEST(Eager, Errors) {
  auto eager = Make(true);
  const Tensor x = Floats({2}, {1, 2});
  EXPECT_THAT(std::string(eager->Execute("NoSuchOp", {x}).status().message()),
              HasSubstr("NoSuchOp"));
  EXPECT_FALSE(eager->Execute("_MklNativeMatMul", {x, x}).ok());
  EXPECT_FALSE(eager->Execute("MatMul", {x, x}).ok());
  EXPECT_FALSE(eager->Execute("Relu", {}).ok());
  EXPECT_FALSE(eager->Execute("Relu", {Tensor()}).ok());
}

TEST(Eager, KernelsAreKeptByAttributesAndDTypes) {
  auto eager = Make(true);
  const Tensor m = Floats({1, 2}, {1, 2});
  for (int round = 0; round < 2; ++round) {
    for (bool transposed : {false, true}) {
      auto y = eager->Execute("MatMul", {m, transposed ? m : Floats({2, 1}, {1, 2})},
                              {{"transpose_b", transposed}});
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_THAT((*y)[0].flat<float>(), ElementsAre(5));
    }
    auto ints =
        eager->Execute("AddV2", {Tensor::Vector<int32_t>({1}), Tensor::Vector<int32_t>({2})});
    ASSERT_TRUE(ints.ok()) << ints.status();
    EXPECT_THAT((*ints)[0].flat<int32_t>(), ElementsAre(3));
  }
  EXPECT_EQ(eager->kernel_stats().misses, 3);
  EXPECT_EQ(eager->kernel_stats().hits, 3);
}

TEST(Eager, AValueThatOnlyTheShapeFunctionReads) {
  auto eager = Make(true);
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const std::vector<int32_t>& shape : {std::vector<int32_t>{3, 2}, {6, 1}, {3, 2}}) {
    auto y = eager->Execute("Reshape", {x, Tensor::Vector<int32_t>(shape)});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ((*y)[0].shape(), Shape({shape[0], shape[1]}));
  }
}

TEST(Eager, AScalarShapeIsReadInEachCall) {
  auto eager = Make(true);
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(eager->Execute("Reshape", {x, Tensor::Scalar<int32_t>(6)}).ok());
  EXPECT_EQ(eager->Execute("Reshape", {x, Tensor::Scalar<int32_t>(5)}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Eager, ACacheOfNothingAndOneThatOverflows) {
  for (int64_t entries : {0, 3}) {
    SessionOptions options;
    options.flags = Flags();
    options.flags->cache_entries = entries;
    options.flags->cache_bytes = 1 << 20;
    auto eager = *Eager::Create(options);
    for (int64_t n : {1, 2, 3, 4, 5, 1, 2, 3, 4, 5}) {
      const Tensor x = Floats({n}, std::vector<float>(static_cast<size_t>(n), -2));
      auto y = eager->Execute("Abs", {x});
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_EQ((*y)[0].num_elements(), n);
      EXPECT_EQ((*y)[0].data<float>()[n - 1], 2);
      EXPECT_LE(eager->kernel_stats().entries, entries);
    }
  }
}

TEST(Eager, KeepsNothingWhereTheFlagsSaySo) {
  for (const auto none : {&Flags::cache_entries, &Flags::cache_bytes}) {
    SessionOptions options;
    options.flags = Flags();
    (*options.flags).*none = 0;
    auto eager = *Eager::Create(options);
    for (int i = 0; i < 3; ++i) {
      auto y = eager->Execute("Abs", {Floats({2}, {-1, 2})});
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_THAT((*y)[0].flat<float>(), ElementsAre(1, 2));
    }
    EXPECT_EQ(eager->kernel_stats().misses, 3);
    EXPECT_EQ(eager->kernel_stats().entries, 0);
  }
}

// What is used stays, however many others come and go.
TEST(Eager, WhatWasUsedLongestAgoLeaves) {
  SessionOptions options;
  options.flags = Flags();
  options.flags->cache_entries = 4;
  auto eager = *Eager::Create(options);
  for (int64_t n = 1; n <= 20; ++n) {
    const Tensor x = Floats({n}, std::vector<float>(static_cast<size_t>(n), -2));
    EXPECT_TRUE(eager->Execute("Neg", {Floats({1}, {1})}).ok());
    EXPECT_TRUE(eager->Execute("Abs", {x}).ok());
  }
  EXPECT_EQ(eager->kernel_stats().misses, 21);
  EXPECT_EQ(eager->kernel_stats().entries, 4);
}

TEST(Eager, TheProcessHasAContext) {
  auto y = eager::Execute("Neg", {Floats({1}, {3})});
  ASSERT_TRUE(y.ok()) << y.status();
  auto later = eager::Submit("Neg", {EagerHandle((*y)[0])});
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_THAT((*later)[0].Read()->flat<float>(), ElementsAre(3));
}

EagerHandle Only(absl::StatusOr<std::vector<EagerHandle>> handles) {
  EXPECT_TRUE(handles.ok()) << handles.status();
  EXPECT_EQ(handles->size(), 1u);
  return (*handles)[0];
}

TEST(EagerAsync, RunsInTheOrderOfItsData) {
  auto eager = Make(true);
  EagerHandle x(Floats({2}, {1, 2}));
  EagerHandle sum = x;
  for (int i = 0; i < 3000; ++i) sum = Only(eager->Submit("AddV2", {sum, x}));
  auto y = sum.Read();
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT(y->flat<float>(), ElementsAre(3001, 6002));
  EXPECT_TRUE(sum.ready());
}

// A context used to wait forever for its call if another one computed the input. Found by fuzzing.
TEST(EagerAsync, AnInputOfAnotherContext) {
  auto first = Make(true);
  auto second = Make(true);
  EagerHandle x(Floats({2}, {1, 2}));
  EagerHandle sum = x;
  for (int i = 0; i < 1000; ++i) sum = Only(first->Submit("AddV2", {sum, x}));
  const EagerHandle y = Only(second->Submit("Neg", {sum}));
  second.reset();
  EXPECT_TRUE(y.ready());
  ASSERT_TRUE(y.Read().ok()) << y.Read().status();
  EXPECT_THAT(y.Read()->flat<float>(), ElementsAre(-1001, -2002));
}

TEST(EagerAsync, UnknownShapesAndSeveralOutputs) {
  auto eager = Make(true);
  EagerHandle x(Floats({4}, {3, 0, 5, 0}));
  EagerHandle zero(Tensor::Scalar<float>(0));
  EagerHandle where = Only(eager->Submit("Where", {Only(eager->Submit("Greater", {x, zero}))}));
  auto parts =
      eager->Submit("Split", {EagerHandle(Tensor::Scalar<int32_t>(0)), x}, {{"num_split", 2}});
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ(where.dtype(), DType::kInt64);
  auto found = where.Read();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->shape(), Shape({2, 1}));
  EXPECT_THAT(found->flat<int64_t>(), ElementsAre(0, 2));
  EXPECT_THAT((*parts)[1].Read()->flat<float>(), ElementsAre(5, 0));
}

TEST(EagerAsync, ErrorsTravel) {
  auto eager = Make(true);
  EXPECT_FALSE(eager->Submit("NoSuchOp", {}).ok());
  EagerHandle x(Floats({2}, {1, 2}));
  EagerHandle failed = Only(eager->Submit("TestFail", {x}));
  EagerHandle also_failed = Only(eager->Submit("MatMul", {x, x}));
  EagerHandle dependent = Only(eager->Submit("Neg", {Only(eager->Submit("AddV2", {failed, x}))}));
  EagerHandle both = Only(eager->Submit("AddV2", {dependent, also_failed}));
  EagerHandle fine = Only(eager->Submit("Neg", {x}));
  EXPECT_TRUE(fine.Read().ok());
  EXPECT_EQ(dependent.Read().status(), failed.Read().status());
  EXPECT_THAT(std::string(dependent.Read().status().message()), HasSubstr("TestFail"));
  EXPECT_EQ(both.Read().status(), failed.Read().status());
  EXPECT_THAT(std::string(also_failed.Read().status().message()), HasSubstr("MatMul"));
}

TEST(EagerAsync, HandlesOutliveTheirContext) {
  std::vector<EagerHandle> handles;
  {
    auto eager = Make(true);
    handles.push_back(EagerHandle(Floats({3}, {1, 2, 3})));
    for (int i = 0; i < 500; ++i) handles.push_back(Only(eager->Submit("Neg", {handles.back()})));
  }
  ASSERT_TRUE(handles.back().ready());
  EXPECT_THAT(handles.back().Read()->flat<float>(), ElementsAre(1, 2, 3));
}

TEST(EagerAsync, SeveralThreadsShareAContext) {
  auto eager = Make(true);
  EagerHandle shared = Only(eager->Submit("Neg", {EagerHandle(Floats({2}, {-1, -1}))}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      EagerHandle sum = shared;
      for (int i = 0; i < 400; ++i) {
        sum = Only(eager->Submit("AddV2", {sum, shared}));
        if (i % 100 == t) {
          auto now = eager->Execute("AddV2", {*shared.Read(), *shared.Read()});
          EXPECT_TRUE(now.ok()) << now.status();
        }
      }
      EXPECT_THAT(sum.Read()->flat<float>(), ElementsAre(401, 401));
    });
  }
  for (std::thread& t : threads) t.join();
}

// One call waits until it is released, so the calls after it stay pending.
TEST(EagerAsync, BlocksWhileTooMuchIsPending) {
  EagerQueue queue(1);
  Mutex mutex;
  bool go = false;
  std::atomic<int> submitted = 0;
  const auto call = [&](bool waits) {
    auto c = std::make_shared<EagerCall>();
    c->run = [&, waits](absl::Span<const Tensor>) -> absl::StatusOr<std::vector<Tensor>> {
      MutexLock lock(&mutex);
      if (waits) mutex.Await([&] { return go; });
      return std::vector<Tensor>();
    };
    return c;
  };
  std::thread issuer([&] {
    for (int i = 0; i < 2 * EagerQueue::kMaxPending; ++i) {
      queue.Submit(call(i == 0), /*stateful=*/false);
      ++submitted;
    }
  });
  while (submitted < EagerQueue::kMaxPending) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(submitted, EagerQueue::kMaxPending);
  {
    MutexLock lock(&mutex);
    go = true;
  }
  issuer.join();
  EXPECT_EQ(submitted, 2 * EagerQueue::kMaxPending);
}

TEST(EagerAsync, CallsWithStateRunInTheOrderOfSubmission) {
  std::vector<int> order;
  {
    EagerQueue queue(3);
    for (int i = 0; i < 200; ++i) {
      auto c = std::make_shared<EagerCall>();
      c->run = [&order, i](absl::Span<const Tensor>) -> absl::StatusOr<std::vector<Tensor>> {
        order.push_back(i);
        if (i % 7 == 0) return absl::InternalError("on purpose");
        return std::vector<Tensor>();
      };
      queue.Submit(std::move(c), /*stateful=*/true);
    }
  }
  ASSERT_EQ(order.size(), 200u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

}  // namespace
}  // namespace tenon
