// Gradients of pools: numeric differentiation, channels first against channels last, explicit
// padding, the workspace, invalid values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tests/support/numeric_gradient.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;

AttrMap Attrs(DType dtype, int64_t window, int64_t stride, const char* padding) {
  return {{"T", dtype},
          {"padding", padding},
          {"ksize", Ints{1, window, window, 1}},
          {"strides", Ints{1, stride, stride, 1}}};
}

// Values far enough apart that a small step does not change which one is largest.
template <typename T>
Tensor Apart(DType dtype, const Shape& shape, uint32_t seed) {
  Tensor t = *Tensor::Allocate(dtype, shape);
  std::vector<int> order(static_cast<size_t>(shape.num_elements()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  for (size_t i = 0; i < order.size(); ++i) t.data<T>()[i] = static_cast<T>(order[i]) * T(0.05);
  return t;
}

Tensor Pooled(const std::string& op, const AttrMap& attrs, const Tensor& x) {
  auto y = RunNode(MakeNode(op, attrs), {x}, {});
  EXPECT_TRUE(y.ok()) << y.status();
  return y->outputs[0];
}

Tensor ShapeTensor(const Shape& shape) {
  std::vector<int32_t> dims;
  for (int64_t d : shape.dims()) dims.push_back(static_cast<int32_t>(d));
  return Tensor::Vector<int32_t>(dims);
}

template <typename T>
void ExpectDerivatives(DType dtype, const std::vector<std::string>& prefixes) {
  const Tensor x = Apart<T>(dtype, {2, 5, 6, 3}, 1);
  for (const char* padding : {"SAME", "VALID"}) {
    for (const int64_t stride : {1, 2, 3}) {
      SCOPED_TRACE(absl::StrCat(padding, " ", stride));
      const AttrMap attrs = Attrs(dtype, 3, stride, padding);
      for (const char* kind : {"MaxPool", "AvgPool"}) {
        const Tensor y = Pooled(kind, attrs, x);
        const Tensor dy = RandomTensor(dtype, y.shape(), 2);
        const bool max = kind[0] == 'M';
        const std::vector<Tensor> inputs =
            max ? std::vector<Tensor>{x, y, dy} : std::vector<Tensor>{ShapeTensor(x.shape()), dy};
        for (const std::string& prefix : prefixes) {
          SCOPED_TRACE(prefix + kind);
          const auto dx = RunNode(MakeNode(prefix + kind + "Grad", attrs), inputs,
                                  {.constants = max ? std::vector<int>{} : std::vector<int>{0}});
          ASSERT_TRUE(dx.ok()) << dx.status();
          testing::ExpectNumericGradient(
              [&](const Tensor& at) -> absl::StatusOr<Tensor> { return Pooled(kind, attrs, at); },
              x, dy, dx->outputs[0], {.third_derivative = 0});
        }
      }
    }
  }
}

TEST(PoolGrad, IsTheDerivative) {
  ExpectDerivatives<double>(DType::kDouble, {""});
  ExpectDerivatives<float>(DType::kFloat, {"", "_MklNative"});
}

TEST(PoolGrad, AcceleratedMatchesStandard) {
  for (const Shape& shape : {Shape({2, 31, 29, 64}), Shape({1, 14, 15, 70}), Shape({3, 9, 9, 3})}) {
    for (const DType dtype : {DType::kFloat, DType::kBfloat16}) {
      for (const int threads : {1, 2}) {
        const AttrMap attrs = Attrs(dtype, 3, 2, "SAME");
        const Tensor x = RandomTensor(dtype, shape, 1);
        const Tensor y = Pooled("MaxPool", attrs, x);
        const Tensor dy = RandomTensor(dtype, y.shape(), 2);
        ExpectNativeMatches("MaxPoolGrad", attrs, {x, y, dy}, {.threads = threads}, 4);
        ExpectNativeMatches("AvgPoolGrad", attrs, {ShapeTensor(shape), dy},
                            {.threads = threads, .constants = {0}}, 4);
        ExpectNativeMatches("_MaxPoolWithWorkspace", attrs, {x}, {.threads = threads}, 1);
      }
    }
  }
}

Tensor ChannelsFirst(const Tensor& t) {
  Tensor out =
      *Tensor::Allocate(t.dtype(), {t.shape()[0], t.shape()[3], t.shape()[1], t.shape()[2]});
  int64_t i = 0;
  const Shape& s = t.shape();
  for (int64_t n = 0; n < s[0]; ++n)
    for (int64_t c = 0; c < s[3]; ++c)
      for (int64_t p = 0; p < s[1] * s[2]; ++p)
        out.data<float>()[i++] = t.data<float>()[(n * s[1] * s[2] + p) * s[3] + c];
  return out;
}

TEST(PoolGrad, ChannelsFirst) {
  const Tensor x = Apart<float>(DType::kFloat, {2, 7, 6, 5}, 1);
  const AttrMap last = Attrs(DType::kFloat, 3, 2, "SAME");
  AttrMap first = last;
  first["ksize"] = Ints{1, 1, 3, 3};
  first["strides"] = Ints{1, 1, 2, 2};
  first["data_format"] = "NCHW";
  const Tensor y = Pooled("MaxPool", last, x), dy = RandomTensor(DType::kFloat, y.shape(), 2);
  const Tensor x1 = ChannelsFirst(x), y1 = ChannelsFirst(y), dy1 = ChannelsFirst(dy);
  for (const char* prefix : {"", "_MklNative"}) {
    const auto run = [&](const char* op, const AttrMap& attrs, const std::vector<Tensor>& inputs) {
      auto r =
          RunNode(MakeNode(std::string(prefix) + op, attrs), inputs,
                  {.threads = 2,
                   .constants = inputs.size() == 2 ? std::vector<int>{0} : std::vector<int>{}});
      EXPECT_TRUE(r.ok()) << r.status();
      EXPECT_EQ(r->accelerated, *prefix != 0);
      return r->outputs[0];
    };
    EXPECT_TRUE(Identical(ChannelsFirst(run("MaxPoolGrad", last, {x, y, dy})),
                          run("MaxPoolGrad", first, {x1, y1, dy1})));
    EXPECT_LE(RelativeError(ChannelsFirst(run("AvgPoolGrad", last, {ShapeTensor(x.shape()), dy})),
                            run("AvgPoolGrad", first, {ShapeTensor(x1.shape()), dy1})),
              1e-6);
  }
}

TEST(PoolGrad, ExplicitPaddingAsSameDoes) {
  const Tensor x = Apart<float>(DType::kFloat, {2, 5, 5, 4}, 1);
  const AttrMap same = Attrs(DType::kFloat, 3, 2, "SAME");
  AttrMap pads = Attrs(DType::kFloat, 3, 2, "EXPLICIT");
  pads["explicit_paddings"] = Ints{0, 0, 1, 1, 1, 1, 0, 0};
  const Tensor y = Pooled("MaxPool", same, x), dy = RandomTensor(DType::kFloat, y.shape(), 2);
  for (const char* op : {"MaxPoolGrad", "_MklNativeMaxPoolGrad"}) {
    const auto a = RunNode(MakeNode(op, same), {x, y, dy}, {});
    const auto b = RunNode(MakeNode(op, pads), {x, y, dy}, {});
    ASSERT_TRUE(a.ok() && b.ok()) << b.status();
    EXPECT_TRUE(Identical(a->outputs[0], b->outputs[0]));
  }
}

TEST(PoolGrad, WorkspaceKeepsMaxPoolsValues) {
  Tensor x = RandomTensor(DType::kFloat, {2, 6, 6, 20}, 1);
  const float inf = std::numeric_limits<float>::infinity();
  const float special[] = {NAN, -inf, inf, -0.0f, 0.0f, 1, NAN};
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    if (i % 3 != 0) x.data<float>()[i] = special[i / 3 % 7];
  }
  for (int64_t i = 0; i < 4 * 20; ++i) x.data<float>()[i] = i % 2 == 0 ? NAN : -inf;
  const AttrMap attrs = Attrs(DType::kFloat, 2, 2, "SAME");
  const Tensor want = Pooled("MaxPool", attrs, x);
  EXPECT_TRUE(Identical(Pooled("_MaxPoolWithWorkspace", attrs, x), want));
  EXPECT_TRUE(Identical(Pooled("_MklNativeMaxPoolWithWorkspace", attrs, x), want));
}

TEST(PoolGrad, ArgmaxOutsideIsAnError) {
  const AttrMap attrs{{"T", DType::kFloat},
                      {"Targmax", DType::kInt64},
                      {"padding", "VALID"},
                      {"ksize", Ints{1, 2, 2, 1}},
                      {"strides", Ints{1, 2, 2, 1}}};
  const Tensor x = RandomTensor(DType::kFloat, {1, 4, 4, 1}, 1);
  const Tensor dy = RandomTensor(DType::kFloat, {1, 2, 2, 1}, 1);
  for (const int64_t bad : {-1, 16}) {
    const Tensor argmax = Tensor::From<int64_t>({1, 2, 2, 1}, {0, 3, 8, bad});
    EXPECT_TRUE(absl::IsInvalidArgument(
        RunNode(MakeNode("MaxPoolGradWithArgmax", attrs), {x, dy, argmax}, {}).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(
        RunNode(MakeNode("MaxPoolGradGradWithArgmax", attrs), {x, x, argmax}, {}).status()));
  }
  const Tensor argmax = Tensor::From<int64_t>({1, 2, 2, 1}, {0, 3, 8, 15});
  const auto picked = RunNode(MakeNode("MaxPoolGradGradWithArgmax", attrs), {x, x, argmax}, {});
  ASSERT_TRUE(picked.ok()) << picked.status();
  EXPECT_EQ(picked->outputs[0].data<float>()[3], x.data<float>()[15]);
}

TEST(PoolGrad, HostileShapes) {
  const AttrMap attrs = Attrs(DType::kFloat, 2, 2, "VALID");
  const Tensor dy = RandomTensor(DType::kFloat, {1, 2, 2, 1}, 1);
  const int32_t huge = 2147483647;
  for (const std::vector<int32_t>& dims :
       {std::vector<int32_t>{huge, huge, huge, huge}, {1, -4, 4, 1}, {1, 4, 4}, {1, 9, 9, 1}}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(RunNode(MakeNode("AvgPoolGrad", attrs),
                                        {Tensor::Vector<int32_t>(dims), dy}, {.constants = {0}})
                                    .status()));
  }
  // A shape that exists, with windows that cannot all be written down.
  AttrMap wide = Attrs(DType::kFloat, int64_t{1} << 30, 1, "SAME");
  const Tensor x = RandomTensor(DType::kFloat, {1, 1, 1 << 14, 1}, 1);
  for (const char* op : {"MaxPoolGrad", "_MklNativeMaxPoolGrad"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(RunNode(MakeNode(op, wide), {x, x, x}, {}).status()));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunNode(MakeNode("AvgPoolGrad", Attrs(DType::kFloat, 1, 1 << 20, "SAME")),
              {Tensor::Vector<int32_t>({1, 1 << 20, 1 << 20, 1}),
               RandomTensor(DType::kFloat, {1, 1, 1, 1}, 1)},
              {.constants = {0}})
          .status()));
}

}  // namespace
}  // namespace tenon
