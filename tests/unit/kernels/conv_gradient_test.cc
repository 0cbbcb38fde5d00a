// Gradients of convolutions: compared with differences of the forward op, and the oneDNN kernels
// with the reference kernels.
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/match.h"
#include "kernels/elementwise/elementwise.h"
#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;

struct GradientCase {
  const char* name;
  Shape input, filter;  // rank 5: three spatial dimensions
  bool depthwise = false;
  std::string padding = "SAME";
  int64_t stride = 1;
  int64_t dilation = 1;
  Ints explicit_paddings = {};
  bool channels_first = false;
};

const GradientCase kCases[] = {
    {.name = "plain", .input = {2, 9, 7, 16}, .filter = {3, 3, 16, 32}},
    {.name = "one_by_one", .input = {2, 5, 5, 17}, .filter = {1, 1, 17, 13}},
    {.name = "one_by_one_strided", .input = {1, 8, 8, 64}, .filter = {1, 1, 64, 32}, .stride = 2},
    {.name = "image", .input = {2, 19, 17, 3}, .filter = {7, 7, 3, 16}, .stride = 2},
    {.name = "odd", .input = {2, 11, 6, 5}, .filter = {2, 4, 5, 7}, .stride = 3},
    {.name = "valid",
     .input = {1, 10, 9, 6},
     .filter = {3, 2, 6, 8},
     .padding = "VALID",
     .stride = 2},
    {.name = "dilated", .input = {1, 12, 12, 8}, .filter = {3, 3, 8, 24}, .dilation = 2},
    {.name = "explicit",
     .input = {1, 9, 9, 8},
     .filter = {3, 3, 8, 16},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 0, 1, 2, 3, 0, 0}},
    {.name = "grouped", .input = {1, 7, 7, 32}, .filter = {3, 3, 8, 64}},
    {.name = "channels_first",
     .input = {2, 16, 7, 9},
     .filter = {3, 3, 16, 8},
     .channels_first = true},
    {.name = "depthwise", .input = {2, 9, 8, 24}, .filter = {3, 3, 24, 1}, .depthwise = true},
    {.name = "depthwise_strided",
     .input = {2, 15, 13, 20},
     .filter = {5, 5, 20, 1},
     .depthwise = true,
     .stride = 2},
    {.name = "depthwise_multiplier",
     .input = {1, 8, 8, 6},
     .filter = {3, 3, 6, 3},
     .depthwise = true},
    {.name = "depthwise_channels_first",
     .input = {1, 16, 8, 8},
     .filter = {3, 3, 16, 1},
     .depthwise = true,
     .channels_first = true},
    {.name = "volume", .input = {1, 5, 6, 7, 16}, .filter = {3, 3, 3, 16, 16}},
    {.name = "volume_strided", .input = {2, 5, 6, 4, 8}, .filter = {2, 3, 1, 8, 4}, .stride = 2},
    {.name = "volume_channels_first",
     .input = {1, 8, 5, 6, 7},
     .filter = {3, 3, 3, 8, 8},
     .channels_first = true},
};

bool Is3D(const GradientCase& c) { return c.input.rank() == 5; }

std::string ForwardOp(const GradientCase& c) {
  return c.depthwise ? "DepthwiseConv2dNative" : Is3D(c) ? "Conv3D" : "Conv2D";
}
std::string GradientOp(const GradientCase& c, const std::string& of) {
  return ForwardOp(c) + "Backprop" + of + (Is3D(c) ? "V2" : "");
}

AttrMap Attrs(const GradientCase& c, DType dtype) {
  AttrMap attrs{{"T", dtype}, {"padding", c.padding}};
  auto spatial = [&c](int64_t value) {
    Ints list(static_cast<size_t>(c.input.rank()), value);
    list.front() = list[c.channels_first ? 1 : list.size() - 1] = 1;
    return list;
  };
  attrs["strides"] = spatial(c.stride);
  attrs["dilations"] = spatial(c.dilation);
  attrs["data_format"] = std::string(Is3D(c) ? (c.channels_first ? "NCDHW" : "NDHWC")
                                             : (c.channels_first ? "NCHW" : "NHWC"));
  if (!c.explicit_paddings.empty()) attrs["explicit_paddings"] = c.explicit_paddings;
  return attrs;
}

Tensor SizesOf(const Shape& shape) {
  return Tensor::Vector(std::vector<int32_t>(shape.dims().begin(), shape.dims().end()));
}

// The inputs of both gradient ops and of the forward op.
struct Operands {
  Tensor input, filter, out_backprop;

  std::vector<Tensor> ForInput() const { return {SizesOf(input.shape()), filter, out_backprop}; }
  std::vector<Tensor> ForFilter() const { return {input, SizesOf(filter.shape()), out_backprop}; }
};

absl::StatusOr<Tensor> Forward(const GradientCase& c, DType dtype, const Tensor& input,
                               const Tensor& filter) {
  auto result = RunNode(MakeNode(ForwardOp(c), Attrs(c, dtype)), {input, filter}, {});
  if (!result.ok()) return result.status();
  return result->outputs[0];
}

absl::StatusOr<Operands> MakeOperands(const GradientCase& c, DType dtype) {
  Operands o{RandomTensor(dtype, c.input, 1), RandomTensor(dtype, c.filter, 2), Tensor()};
  auto output = Forward(c, dtype, o.input, o.filter);
  if (!output.ok()) return output.status();
  o.out_backprop = RandomTensor(dtype, output->shape(), 3);
  return o;
}

int64_t LongestSum(const Operands& o) {
  return std::max(o.filter.num_elements(), o.out_backprop.num_elements());
}

class ConvGradient : public testing::TestWithParam<GradientCase> {};

// A convolution is linear in each operand, so central differences with a step of 1 are exact except
// for rounding.
TEST_P(ConvGradient, IsTheDerivative) {
  const GradientCase& c = GetParam();
  const auto operands = MakeOperands(c, DType::kDouble);
  ASSERT_TRUE(operands.ok()) << operands.status();
  auto loss = [&](const Tensor& input, const Tensor& filter) {
    const auto output = Forward(c, DType::kDouble, input, filter);
    EXPECT_TRUE(output.ok()) << output.status();
    double sum = 0;
    for (int64_t i = 0; i < output->num_elements(); ++i) {
      sum += output->data<double>()[i] * operands->out_backprop.data<double>()[i];
    }
    return sum;
  };
  auto check = [&](const std::string& of, const std::vector<Tensor>& inputs, Tensor perturbed,
                   auto loss_of) {
    auto gradient = RunNode(MakeNode(GradientOp(c, of), Attrs(c, DType::kDouble)), inputs,
                            {.threads = 2, .constants = {of == "Input" ? 0 : 1}});
    ASSERT_TRUE(gradient.ok()) << gradient.status();
    double* const x = perturbed.data<double>();
    const int64_t n = perturbed.num_elements();
    ASSERT_EQ(gradient->outputs[0].shape(), perturbed.shape());
    // Each element costs two convolutions, so only a dozen are checked, spread over all.
    for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / 13)) {
      const double value = x[i];
      x[i] = value + 1;
      const double above = loss_of(perturbed);
      x[i] = value - 1;
      const double below = loss_of(perturbed);
      x[i] = value;
      // The losses are sums of this many products below 1, each rounded.
      const double rounding = 2.3e-16 * static_cast<double>(LongestSum(*operands)) * 16;
      EXPECT_NEAR((above - below) / 2, gradient->outputs[0].data<double>()[i], rounding)
          << GradientOp(c, of) << ", element " << i;
    }
  };
  check("Input", operands->ForInput(), *operands->input.Clone(),
        [&](const Tensor& x) { return loss(x, operands->filter); });
  check("Filter", operands->ForFilter(), *operands->filter.Clone(),
        [&](const Tensor& w) { return loss(operands->input, w); });
}

TEST_P(ConvGradient, OnednnMatchesReference) {
  const GradientCase& c = GetParam();
  const auto operands = MakeOperands(c, DType::kFloat);
  ASSERT_TRUE(operands.ok()) << operands.status();
  const AttrMap attrs = Attrs(c, DType::kFloat);
  const int64_t length = LongestSum(*operands);
  for (int threads : {1, 2}) {
    for (bool constant : {false, true}) {
      NodeRunOptions options{.threads = threads, .cache = constant, .constants = {0}};
      if (constant) options.constants.push_back(1);
      ExpectNativeMatches(GradientOp(c, "Input"), attrs, operands->ForInput(), options, length,
                          /*must_accelerate=*/true);
    }
    ExpectNativeMatches(GradientOp(c, "Filter"), attrs, operands->ForFilter(),
                        {.threads = threads, .constants = {1}}, length, /*must_accelerate=*/true);
  }
}

TEST_P(ConvGradient, DoublesMatchReference) {
  const GradientCase& c = GetParam();
  if (c.depthwise && c.channels_first) return;
  const auto operands = MakeOperands(c, DType::kDouble);
  ASSERT_TRUE(operands.ok()) << operands.status();
  const AttrMap attrs = Attrs(c, DType::kDouble);
  const int64_t length = LongestSum(*operands);
  for (int threads : {1, 3}) {
    ExpectNativeMatches(ForwardOp(c), attrs, {operands->input, operands->filter},
                        {.threads = threads}, length, /*must_accelerate=*/true);
    ExpectNativeMatches(GradientOp(c, "Input"), attrs, operands->ForInput(),
                        {.threads = threads, .constants = {0}}, length, /*must_accelerate=*/true);
    ExpectNativeMatches(GradientOp(c, "Filter"), attrs, operands->ForFilter(),
                        {.threads = threads, .constants = {1}}, length, /*must_accelerate=*/true);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvGradient, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Random geometries; the seed is the test's name.
class RandomConvGradient : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomConvGradient, OnednnMatchesReference) {
  std::mt19937 engine(GetParam());
  auto draw = [&engine](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  GradientCase c{.name = "random", .input = {}, .filter = {}};
  c.depthwise = draw(0, 3) == 0;
  const bool three = !c.depthwise && draw(0, 3) == 0;
  c.channels_first = draw(0, 3) == 0;
  c.stride = draw(1, 3);
  c.dilation = c.stride == 1 ? draw(1, 3) : 1;
  const int64_t groups = c.depthwise ? 1 : draw(0, 3) == 0 ? draw(2, 4) : 1;
  const int64_t in = draw(1, 20), out = c.depthwise ? draw(1, 2) : draw(1, 20) * groups;
  Ints image, window;
  for (int i = 0; i < (three ? 3 : 2); ++i) {
    window.push_back(draw(1, three ? 3 : 5));
    image.push_back(std::max<int64_t>(draw(1, 12), (window.back() - 1) * c.dilation + 1));
  }
  const int kind = static_cast<int>(draw(0, three ? 1 : 2));
  c.padding = kind == 0 ? "SAME" : kind == 1 ? "VALID" : "EXPLICIT";
  if (kind == 2) {
    Ints spatial{draw(0, 4), draw(0, 4), draw(0, 4), draw(0, 4)};
    c.explicit_paddings.assign(8, 0);
    std::copy(spatial.begin(), spatial.end(),
              c.explicit_paddings.begin() + (c.channels_first ? 4 : 2));
  }
  Ints input{draw(1, 3)}, filter = window;
  if (c.channels_first) input.push_back(in * groups);
  input.insert(input.end(), image.begin(), image.end());
  if (!c.channels_first) input.push_back(in * groups);
  filter.insert(filter.end(), {in, out});
  c.input = Shape(absl::MakeConstSpan(input));
  c.filter = Shape(absl::MakeConstSpan(filter));
  SCOPED_TRACE(ForwardOp(c) + " " + c.input.ToString() + " " + c.filter.ToString() + " " +
               c.padding + " stride " + std::to_string(c.stride) + " dilation " +
               std::to_string(c.dilation) + (c.channels_first ? " channels first" : ""));
  const auto operands = MakeOperands(c, DType::kFloat);
  ASSERT_TRUE(operands.ok()) << operands.status();
  const AttrMap attrs = Attrs(c, DType::kFloat);
  const int64_t length = LongestSum(*operands);
  ExpectNativeMatches(GradientOp(c, "Input"), attrs, operands->ForInput(),
                      {.threads = 2, .constants = {0}}, length,
                      /*must_accelerate=*/false);
  ExpectNativeMatches(GradientOp(c, "Filter"), attrs, operands->ForFilter(),
                      {.threads = 2, .constants = {1}}, length,
                      /*must_accelerate=*/false);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomConvGradient, testing::Range(0u, 120u));

// Transposed convolutions with constant filters and strides, whose phases are products.
class RandomTransposed : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomTransposed, PhasesMatchReference) {
  std::mt19937 engine(GetParam());
  auto draw = [&engine](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  const int64_t down = draw(1, 3), across = down == 1 ? draw(2, 3) : draw(1, 3);
  const int64_t height = draw(down, 3), width = draw(across, 3);
  GradientCase c{.name = "random", .input = {}, .filter = {}};
  c.input = {draw(1, 2), draw(height, 11), draw(width, 11), draw(64, 83)};
  c.filter = {height, width, c.input[3], draw(128, 150)};
  c.padding = draw(0, 1) == 0 ? "SAME" : draw(0, 1) == 0 ? "VALID" : "EXPLICIT";
  if (c.padding == "EXPLICIT") {
    c.explicit_paddings = {0, 0, draw(0, 4), draw(0, 4), draw(0, 4), draw(0, 4), 0, 0};
  }
  AttrMap attrs = Attrs(c, DType::kFloat);
  attrs["strides"] = Ints{1, down, across, 1};
  const Tensor filter = RandomTensor(DType::kFloat, c.filter, 2);
  const auto output =
      RunNode(MakeNode("Conv2D", attrs), {RandomTensor(DType::kFloat, c.input, 1), filter}, {});
  ASSERT_TRUE(output.ok()) << output.status();
  SCOPED_TRACE(c.input.ToString() + " " + c.filter.ToString() + " " + c.padding + " strides " +
               std::to_string(down) + " " + std::to_string(across));
  const std::vector<Tensor> inputs = {SizesOf(c.input), filter,
                                      RandomTensor(DType::kFloat, output->outputs[0].shape(), 3)};
  const NodeRunOptions options{.threads = 2, .constants = {0, 1}};
  ExpectNativeMatches("Conv2DBackpropInput", attrs, inputs, options,
                      c.filter.num_elements() / c.input[3]);
  if (VectorTargetName() != std::string("AVX2") ||
      !absl::StartsWith(OnednnIdentity(), "onednn 2.")) {
    return;  // oneDNN has better kernels
  }
  const auto native = RunNode(MakeNode("_MklNativeConv2DBackpropInput", attrs), inputs, options);
  ASSERT_TRUE(native.ok()) << native.status();
  EXPECT_EQ(native->implementation, "gathered phases");
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTransposed, testing::Range(0u, 40u));

TEST(ConvGradientWithBias, GivesBoth) {
  const GradientCase c{.name = "bias", .input = {3, 7, 6, 8}, .filter = {3, 3, 8, 20}};
  for (DType dtype : {DType::kFloat, DType::kBfloat16}) {
    const auto operands = MakeOperands(c, dtype);
    ASSERT_TRUE(operands.ok()) << operands.status();
    ExpectNativeMatches("_Conv2DBackpropFilterWithBias", Attrs(c, dtype), operands->ForFilter(),
                        {.threads = 2, .constants = {1}}, LongestSum(*operands),
                        /*must_accelerate=*/dtype == DType::kFloat);  // bfloat16 needs CPU support
  }
}

TEST(ConvGradientEmpty, NothingToSumIsZero) {
  const AttrMap attrs{{"T", DType::kFloat}, {"padding", "SAME"}, {"strides", Ints{1, 1, 1, 1}}};
  const Tensor image = RandomTensor(DType::kFloat, {0, 4, 4, 2}, 1);
  struct Case {
    std::string op;
    Shape filter, out_backprop;
  };
  for (const std::string prefix : {"", "_MklNative"}) {
    for (const Case& c :
         {Case{"Conv2DBackpropFilter", {3, 3, 2, 5}, {0, 4, 4, 5}},
          Case{"DepthwiseConv2dNativeBackpropFilter", {3, 3, 2, 1}, {0, 4, 4, 2}}}) {
      auto got = RunNode(MakeNode(prefix + c.op, attrs),
                         {image, SizesOf(c.filter), RandomTensor(DType::kFloat, c.out_backprop, 2)},
                         {.constants = {1}});
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ(got->outputs[0].shape(), c.filter);
      for (float v : got->outputs[0].flat<float>()) EXPECT_EQ(v, 0);
    }
  }
}

TEST(ConvGradientErrors, HostileAttributes) {
  const Tensor filter = RandomTensor(DType::kFloat, {3, 3, 2, 4}, 1);
  const Tensor out = RandomTensor(DType::kFloat, {1, 4, 4, 4}, 2);
  const int64_t huge = int64_t{1} << 62;
  struct Case {
    std::vector<int32_t> sizes = {1, 4, 4, 2};
    Ints strides = {1, 1, 1, 1}, dilations = {1, 1, 1, 1}, pads = {};
    std::string padding = "SAME";
  };
  for (const Case& c : {Case{.strides = {1, huge, huge, 1}}, Case{.dilations = {1, huge, 1, 1}},
                        Case{.pads = {0, 0, huge, huge, 0, 0, 0, 0}, .padding = "EXPLICIT"},
                        Case{.sizes = {1, 2147483647, 2147483647, 2147483647}},
                        Case{.sizes = {1, 4, 4, 0}}, Case{.sizes = {}}}) {
    const AttrMap attrs{{"T", DType::kFloat},
                        {"padding", c.padding},
                        {"strides", c.strides},
                        {"dilations", c.dilations},
                        {"explicit_paddings", c.pads}};
    for (const char* op : {"Conv2DBackpropInput", "_MklNativeConv2DBackpropInput"}) {
      auto got =
          RunNode(MakeNode(op, attrs), {Tensor::Vector(c.sizes), filter, out}, {.constants = {0}});
      EXPECT_TRUE(absl::IsInvalidArgument(got.status())) << got.status();
    }
  }
}

}  // namespace
}  // namespace tenon
