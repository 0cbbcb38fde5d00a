// Reference kernels that run on several threads where there are many elements: the bits are those
// of one thread.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ops/evaluate.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

absl::StatusOr<Tensor> OnThreads(const Node& node, const std::vector<Tensor>& inputs, int threads) {
  static const Flags& flags = *new Flags();
  Services services;
  services.flags = &flags;
  services.threads = threads;
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, Evaluate(node, inputs, services));
  return outputs[0];
}

void ExpectSameBits(const Node& node, const std::vector<Tensor>& inputs) {
  const auto one = OnThreads(node, inputs, 1), many = OnThreads(node, inputs, 3);
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(many.ok()) << many.status();
  EXPECT_EQ(std::memcmp(one->raw(), many->raw(), one->bytes()), 0) << node.op;
}

Tensor Axis(int32_t axis) { return Tensor::Scalar<int32_t>(axis); }

TEST(ManyElements, RunningSums) {
  for (const char* op : {"Cumsum", "Cumprod", "CumulativeLogsumexp"}) {
    for (const bool reverse : {false, true}) {
      Node node = MakeNode(op);
      node.attrs["T"] = AttrValue(DType::kFloat);
      node.attrs["Tidx"] = AttrValue(DType::kInt32);
      node.attrs["reverse"] = AttrValue(reverse);
      ExpectSameBits(node, {Uniform({45, 4099}, 1, 0.9f, 1.1f), Axis(1)});
      ExpectSameBits(node, {Uniform({3, 60, 1100}, 2, 0.9f, 1.1f), Axis(1)});
    }
  }
}

TEST(ManyElements, Places) {
  Tensor sorted = Uniform({2, 3000}, 1);
  const Tensor unsorted = Uniform({2, 3000}, 3), values = Uniform({2, 50'001}, 2);
  for (int row = 0; row < 2; ++row) {
    std::sort(sorted.data<float>() + row * 3000, sorted.data<float>() + (row + 1) * 3000);
  }
  for (const char* op : {"LowerBound", "UpperBound"}) {
    Node node = MakeNode(op);
    node.attrs["T"] = AttrValue(DType::kFloat);
    node.attrs["out_type"] = AttrValue(DType::kInt32);
    ExpectSameBits(node, {sorted, values});
    ExpectSameBits(node, {unsorted, values});
    const auto found = OnThreads(node, {sorted, values}, 3);
    ASSERT_TRUE(found.ok()) << found.status();
    for (int64_t i = 0; i < values.num_elements(); ++i) {
      const float* const first = sorted.data<float>() + i / 50'001 * 3000;
      const float value = values.data<float>()[i];
      const float* const place = op[0] == 'L' ? std::lower_bound(first, first + 3000, value)
                                              : std::upper_bound(first, first + 3000, value);
      ASSERT_EQ(found->data<int32_t>()[i], place - first) << op << " " << i;
    }
  }
  Node buckets = MakeNode("Bucketize");
  buckets.attrs["T"] = AttrValue(DType::kFloat);
  for (const size_t count : {5, 40}) {
    std::vector<float> boundaries;
    for (size_t i = 0; i < count; ++i) boundaries.push_back(static_cast<float>(i) * 0.05f - 1);
    buckets.attrs["boundaries"] = AttrValue(boundaries);
    ExpectSameBits(buckets, {values});
  }
}

TEST(ManyElements, Histogram) {
  Tensor values = Uniform({100'000}, 1);
  const Tensor range = Tensor::Vector<float>({-1.5f, 1.75f}), bins = Tensor::Scalar<int32_t>(97);
  Node node = MakeNode("HistogramFixedWidth");
  node.attrs["T"] = AttrValue(DType::kFloat);
  node.attrs["dtype"] = AttrValue(DType::kInt32);
  ExpectSameBits(node, {values, range, bins});
  values.data<float>()[70'000] = kNaN;
  for (const int threads : {1, 3}) {
    const auto refused = OnThreads(node, {values, range, bins}, threads);
    EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  }
}

TEST(ManyElements, Maps) {
  const Tensor a = Uniform({100'003}, 1), b = Uniform({100'003}, 2);
  Node near = MakeNode("ApproximateEqual");
  near.attrs["T"] = AttrValue(DType::kFloat);
  near.attrs["tolerance"] = AttrValue(0.3f);
  ExpectSameBits(near, {a, b});
  Node spaced = MakeNode("LinSpace");
  spaced.attrs["T"] = AttrValue(DType::kFloat);
  spaced.attrs["Tidx"] = AttrValue(DType::kInt32);
  ExpectSameBits(spaced, {Tensor::Scalar<float>(-1), Tensor::Scalar<float>(3), Axis(100'003)});
  Node range = MakeNode("Range");
  range.attrs["Tidx"] = AttrValue(DType::kFloat);
  ExpectSameBits(range, {Tensor::Scalar<float>(-1), Tensor::Scalar<float>(30'000),
                         Tensor::Scalar<float>(0.25f)});
}

TEST(ManyElements, Images) {
  const Tensor grads = Uniform({3, 90, 70, 5}, 1), image = Uniform({3, 41, 53, 5}, 2);
  const Tensor small = Tensor::Vector<int32_t>({41, 53});
  for (const bool centers : {false, true}) {
    for (const char* op :
         {"ResizeBilinearGrad", "ResizeBicubicGrad", "ResizeNearestNeighborGrad"}) {
      Node node = MakeNode(op);
      node.attrs["T"] = AttrValue(DType::kFloat);
      node.attrs["half_pixel_centers"] = AttrValue(centers);
      ExpectSameBits(node, {grads, node.op == "ResizeNearestNeighborGrad" ? small : image});
    }
  }
  Tensor transforms = Uniform({3, 8}, 3, -0.001f, 0.001f);
  for (int64_t b = 0; b < 3; ++b) {
    transforms.data<float>()[8 * b] = transforms.data<float>()[8 * b + 4] = 0.9f;
  }
  for (const char* interpolation : {"NEAREST", "BILINEAR"}) {
    Node node = MakeNode("ImageProjectiveTransformV3");
    node.attrs["dtype"] = AttrValue(DType::kFloat);
    node.attrs["interpolation"] = AttrValue(std::string(interpolation));
    node.attrs["fill_mode"] = AttrValue(std::string("REFLECT"));
    ExpectSameBits(node, {grads, transforms, small, Tensor::Scalar<float>(0)});
  }
}

TEST(ManyElements, TheFirstStringWithAnErrorIsNamed) {
  Tensor words = *Tensor::Allocate(DType::kString, Shape({5000}));
  for (int64_t i = 0; i < 5000; ++i) {
    words.data<std::string>()[i] = absl::StrCat(i % 1000 == 900 ? "no" : "", i);
  }
  Node node = MakeNode("StringToNumber");
  node.attrs["out_type"] = AttrValue(DType::kFloat);
  for (const int threads : {1, 3}) {
    const auto refused = OnThreads(node, {words}, threads);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().message().find("no900"), absl::string_view::npos)
        << refused.status();
  }
}

}  // namespace
}  // namespace tenon
