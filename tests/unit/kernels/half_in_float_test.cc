// Kernels of floats on halves.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

Tensor Rounded(const Tensor& floats) {
  Tensor halves = *Tensor::Allocate(DType::kHalf, floats.shape());
  for (int64_t i = 0; i < floats.num_elements(); ++i) {
    halves.data<half>()[i] = static_cast<half>(floats.data<float>()[i]);
  }
  return halves;
}

Tensor Widened(const Tensor& halves) {
  Tensor floats = *Tensor::Allocate(DType::kFloat, halves.shape());
  for (int64_t i = 0; i < halves.num_elements(); ++i) {
    floats.data<float>()[i] = static_cast<float>(halves.data<half>()[i]);
  }
  return floats;
}

// The op on halves is the op on the same numbers as floats, rounded once.
void ExpectRounded(const std::string& op, AttrMap attrs, const std::vector<Tensor>& halves,
                   int threads, std::vector<int> constants = {}) {
  std::vector<Tensor> floats;
  for (const Tensor& t : halves) {
    floats.push_back(t.dtype() == DType::kHalf ? Widened(t) : t);
  }
  attrs["T"] = DType::kFloat;
  const auto want =
      RunNode(MakeNode(op, attrs), floats, {.threads = threads, .constants = constants});
  attrs["T"] = DType::kHalf;
  const auto got =
      RunNode(MakeNode(op, attrs), halves, {.threads = threads, .constants = constants});
  ASSERT_TRUE(want.ok()) << want.status();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->accelerated);
  EXPECT_EQ(got->implementation, want->implementation);
  const Tensor rounded = Rounded(want->outputs[0]);
  ASSERT_EQ(got->outputs[0].shape(), rounded.shape());
  for (int64_t i = 0; i < rounded.num_elements(); ++i) {
    ASSERT_EQ(got->outputs[0].data<half>()[i], rounded.data<half>()[i]) << op << " at " << i;
  }
}

TEST(HalfInFloat, RoundsOnce) {
  for (int64_t n : {0, 1, 7, 16, 33, 5000}) {
    const Tensor x = Rounded(RandomTensor(DType::kFloat, {3, n}, 1));
    const Tensor row = Rounded(RandomTensor(DType::kFloat, {n}, 2));
    for (int threads : {1, 2}) {
      ExpectRounded("_MklNativeTanh", {}, {x}, threads);
      ExpectRounded("_MklNativeAddV2", {}, {x, row}, threads);
      for (int32_t axis : {0, 1}) {
        if (n == 0) continue;
        for (const char* op : {"Sum", "Mean", "Max", "Min"}) {
          ExpectRounded(absl::StrCat("_MklNative", op), {{"Tidx", DType::kInt32}},
                        {x, Tensor::Scalar<int32_t>(axis)}, threads, {1});
        }
      }
    }
  }
}

TEST(HalfInFloat, TakesInputsOfOtherTypesAsTheyAre) {
  const Tensor x = Rounded(RandomTensor(DType::kFloat, {1, 5, 6, 3}, 3));
  const Tensor channel = RandomTensor(DType::kFloat, {3}, 4);
  const Tensor variance = Tensor::From<float>({3}, {0.5f, 1.0f, 1.5f});
  ExpectRounded("_MklNativeFusedBatchNormV3", {{"U", DType::kFloat}, {"is_training", false}},
                {x, channel, channel, channel, variance}, 1);
}

TEST(HalfInFloat, Products) {
  const Tensor a = Rounded(RandomTensor(DType::kFloat, {17, 33}, 5));
  const Tensor b = Rounded(RandomTensor(DType::kFloat, {33, 19}, 6));
  ExpectRounded("_MklNativeMatMul", {}, {a, b}, 2);
}

}  // namespace
}  // namespace tenon
