// Queues: where TensorFlow would wait, and what closed queues give. tests/models/steps/queues
// compares their elements with TensorFlow's.
#include "kernels/queue/tensor_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon {
namespace {

using ::testing::ElementsAre;

StagedTuple One(int64_t value) {
  return {std::make_shared<const Tensor>(Tensor::Scalar<int64_t>(value))};
}

std::vector<int64_t> Values(const absl::StatusOr<std::vector<StagedTuple>>& tuples) {
  std::vector<int64_t> values;
  if (!tuples.ok()) return {-1};
  for (const StagedTuple& tuple : *tuples) values.push_back(tuple[0]->data<int64_t>()[0]);
  return values;
}

QueueForm Form(QueueOrder order) {
  QueueForm form;
  form.order = order;
  form.dtypes = {DType::kInt64};
  form.shapes = {Shape()};
  return form;
}

TEST(TensorQueue, DoesNotWait) {
  TensorQueue queue;
  QueueForm form = Form(QueueOrder::kFirstInFirstOut);
  form.capacity = 3;
  ASSERT_TRUE(queue.Configure(form).ok());
  EXPECT_TRUE(queue.Configure(form).ok());
  EXPECT_TRUE(absl::IsUnimplemented(queue.Take(1, false).status()));
  EXPECT_TRUE(queue.Put({One(1), One(2)}).ok());
  EXPECT_TRUE(absl::IsUnimplemented(queue.Put({One(3), One(4)})));
  EXPECT_TRUE(absl::IsUnimplemented(queue.Take(3, true).status()));
  EXPECT_EQ(queue.size(), 2);  // nothing was put or taken
  EXPECT_TRUE(queue.Put({One(3)}).ok());
  EXPECT_THAT(Values(queue.Take(2, false)), ElementsAre(1, 2));
  EXPECT_THAT(Values(queue.Take(0, false)), ElementsAre());
  form.capacity = 4;
  EXPECT_TRUE(absl::IsInvalidArgument(queue.Configure(form)));
}

TEST(TensorQueue, ClosedQueuesEnd) {
  TensorQueue queue;
  ASSERT_TRUE(queue.Configure(Form(QueueOrder::kFirstInFirstOut)).ok());
  EXPECT_TRUE(queue.Put({One(1), One(2), One(3)}).ok());
  EXPECT_FALSE(queue.closed());
  EXPECT_TRUE(queue.Close(false).ok());
  EXPECT_TRUE(queue.closed());
  EXPECT_TRUE(absl::IsFailedPrecondition(queue.Close(false)));
  EXPECT_TRUE(queue.Close(true).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(queue.Put({One(4)})));
  EXPECT_TRUE(queue.Put({}).ok());
  EXPECT_TRUE(absl::IsOutOfRange(queue.Take(4, false).status()));
  EXPECT_THAT(Values(queue.Take(1, false)), ElementsAre(1));
  EXPECT_THAT(Values(queue.Take(5, true)), ElementsAre(2, 3));
  EXPECT_TRUE(absl::IsOutOfRange(queue.Take(1, true).status()));
}

TEST(TensorQueue, ShuffledKeepsSomeUntilClosed) {
  TensorQueue queue;
  QueueForm form = Form(QueueOrder::kShuffled);
  form.least = 2;
  ASSERT_TRUE(queue.Configure(form).ok());
  EXPECT_TRUE(queue.Put({One(1), One(2), One(3)}).ok());
  EXPECT_TRUE(absl::IsUnimplemented(queue.Take(2, false).status()));
  std::vector<int64_t> all = Values(queue.Take(1, false));
  EXPECT_TRUE(queue.Close(false).ok());
  const std::vector<int64_t> rest = Values(queue.Take(2, false));
  all.insert(all.end(), rest.begin(), rest.end());
  EXPECT_THAT(all, ::testing::UnorderedElementsAre(1, 2, 3));
}

TEST(TensorQueue, SmallestPriorityFirst) {
  TensorQueue queue;
  ASSERT_TRUE(queue.Configure(Form(QueueOrder::kByPriority)).ok());
  EXPECT_TRUE(queue.Put({One(5), One(-2), One(9)}).ok());
  EXPECT_TRUE(queue.Put({One(3)}).ok());
  EXPECT_THAT(Values(queue.Take(3, false)), ElementsAre(-2, 3, 5));
}

}  // namespace
}  // namespace tenon
