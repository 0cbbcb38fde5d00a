#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

// Each thread interpolates the rows that it needs, so the split must not show; the images are large
// enough to be split, within an image and between two.
TEST(ResizeBilinear, ThreadsDoNotChangeBits) {
  for (const Shape& image : {Shape({3, 9, 8, 16}), Shape({2, 200, 90, 5})}) {
    const AttrMap attrs = {
        {"T", DType::kFloat}, {"align_corners", false}, {"half_pixel_centers", true}};
    const std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, image, 1),
                                        Tensor::Vector<int32_t>({71, 53})};
    auto run = [&](int threads) {
      auto result = RunNode(MakeNode("ResizeBilinear", attrs), inputs,
                            {.threads = threads, .constants = {1}});
      EXPECT_TRUE(result.ok()) << result.status();
      return result->outputs[0];
    };
    const Tensor one = run(1);
    for (int threads : {2, 5}) {
      const Tensor many = run(threads);
      ASSERT_EQ(many.shape(), one.shape());
      EXPECT_EQ(std::memcmp(many.raw(), one.raw(), one.bytes()), 0) << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace tenon
