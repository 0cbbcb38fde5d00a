// Own kernels of quantized contractions, on each instruction set: the loops against plain sums, the
// kernels against the reference kernels, with results of every dtype, zero points, summands,
// activations, windows, groups and odd sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/contraction/narrow_product_simd.h"
#include "kernels/convolution/depthwise_lines_simd.h"
#include "kernels/quantized/integer_conv.h"
#include "kernels/quantized/integer_product.h"
#include "kernels/quantized/integer_tail_simd.h"
#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using vector_test::Target;
using vector_test::Targets;
using vector_test::UseTarget;

std::mt19937& Engine() {
  static std::mt19937 engine(5);
  return engine;
}
int Random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(Engine()); }

Tensor RandomBytes(DType dtype, const Shape& shape, int low, int high) {
  Tensor t = *Tensor::Allocate(dtype, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    static_cast<uint8_t*>(t.raw())[i] = static_cast<uint8_t>(Random(low, high));
  }
  return t;
}

class IntegerLoopsTest : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override { UseTarget(GetParam().bit); }
  void TearDown() override { UseTarget(0); }
};

// With the largest numbers, too: pairs and quads of products must not saturate.
TEST_P(IntegerLoopsTest, TilesHaveExactSums) {
  for (const NarrowForm form : {NarrowForm::kIntegers, NarrowForm::kIntegersVnni}) {
    if (form == NarrowForm::kIntegersVnni && !HasAvx512Vnni()) continue;
    const NarrowLoops* const found = FindNarrowLoops(form);
    if (found == nullptr) continue;
    const NarrowLoops& loops = *found;
    const size_t terms = 5 * loops.word_terms, words = 5, width = loops.columns();
    for (const bool extreme : {false, true}) {
      std::vector<uint8_t> left(loops.most_rows * terms);
      for (uint8_t& x : left) x = static_cast<uint8_t>(extreme ? 255 : Random(0, 255));
      std::vector<int8_t> right(terms * width);
      for (int8_t& x : right) x = static_cast<int8_t>(extreme ? -128 : Random(-128, 127));
      std::vector<int32_t> start(width);
      for (int32_t& x : start) x = Random(-1000, 1000);
      for (size_t rows = 1; rows <= loops.most_rows; ++rows) {
        for (size_t vectors = 1; vectors <= loops.most_vectors; ++vectors) {
          std::vector<char> widened(rows * terms * loops.left_bytes);
          for (size_t r = 0; r < rows; ++r) {
            loops.widen(left.data() + r * terms, terms, 128,
                        widened.data() + r * terms * loops.left_bytes);
          }
          std::vector<int32_t> sums(rows * width, 7);
          NarrowTile t;
          t.left = widened.data();
          t.left_row = terms * loops.left_bytes;
          t.right = right.data();
          t.words = words;
          t.start = start.data();
          t.sums = sums.data();
          t.sums_row = width;
          loops.multiply[rows - 1][vectors - 1](t);
          for (size_t r = 0; r < rows; ++r) {
            for (size_t c = 0; c < width; ++c) {
              int32_t want = start[c];
              for (size_t k = 0; k < terms; ++k) {
                const size_t word = k / loops.word_terms;
                want += (left[r * terms + k] ^ 128) *
                        right[(word * width + c) * loops.word_terms + k % loops.word_terms];
              }
              ASSERT_EQ(sums[r * width + c], c < vectors * loops.lanes ? want : 7)
                  << rows << "x" << vectors << " " << r << "," << c;
            }
          }
        }
      }
    }
  }
}

// Channels from one to more than a vector has, filters of one to nine taps in a column.
TEST_P(IntegerLoopsTest, DepthwiseLinesHaveExactSums) {
  for (const NarrowForm form : {NarrowForm::kIntegers, NarrowForm::kIntegersVnni}) {
    if (form == NarrowForm::kIntegersVnni && !HasAvx512Vnni()) continue;
    const DepthwiseLoops* const found = FindDepthwiseLoops(form);
    if (found == nullptr) continue;
    const DepthwiseLoops& loops = *found;
    for (size_t taps = 1; taps <= 9; ++taps) {
      for (const size_t channels : {size_t{1}, loops.lanes - 1, loops.lanes}) {
        for (const size_t outputs : {size_t{1}, size_t{7}, size_t{19}}) {
          const size_t window = 1 + taps % 3, stride = 1 + outputs % 2, dilation = 1 + taps % 2;
          const size_t columns = (outputs - 1) * stride + (window - 1) * dilation + 1;
          const size_t words = (taps + loops.word_taps - 1) / loops.word_taps;
          std::vector<uint8_t> image(taps * columns * channels);
          for (uint8_t& x : image) x = static_cast<uint8_t>(Random(0, 255));
          std::vector<const char*> rows;
          for (size_t k = 0; k < taps; ++k) {
            rows.push_back(reinterpret_cast<const char*>(image.data() + k * columns * channels));
          }
          const std::vector<size_t> steps(taps, channels);
          std::vector<int8_t> filter(taps * window * loops.lanes);
          std::vector<int32_t> packed(window * words * loops.lanes, 0);
          for (size_t k = 0; k < taps; ++k) {
            for (size_t x = 0; x < window; ++x) {
              for (size_t c = 0; c < loops.lanes; ++c) {
                const auto w = static_cast<int8_t>(Random(-128, 127));
                filter[(k * window + x) * loops.lanes + c] = w;
                auto* const word = reinterpret_cast<char*>(
                    &packed[(x * words + k / loops.word_taps) * loops.lanes + c]);
                const int16_t wide = w;
                const size_t bytes = 4 / loops.word_taps;
                std::memcpy(word + k % loops.word_taps * bytes, &wide, bytes);
              }
            }
          }
          std::vector<int32_t> in_words(columns * words * loops.lanes);
          DepthwiseColumns c;
          c.rows = rows.data();
          c.steps = steps.data();
          c.taps = taps;
          c.columns = columns;
          c.channels = channels;
          c.flip = 128;
          c.words = in_words.data();
          c.column_words = words;
          loops.interleave(c);
          std::vector<int32_t> start(loops.lanes), sums(outputs * loops.lanes);
          for (int32_t& x : start) x = Random(-1000, 1000);
          DepthwiseSums s;
          s.words = in_words.data();
          s.column_words = s.window_words = words;
          s.filter = packed.data();
          s.window = window;
          s.stride = stride;
          s.dilation = dilation;
          s.start = start.data();
          s.outputs = outputs;
          s.sums = sums.data();
          s.sums_row = loops.lanes;
          loops.sum(s);
          for (size_t x = 0; x < outputs; ++x) {
            for (size_t ch = 0; ch < channels; ++ch) {
              int32_t want = start[ch];
              for (size_t k = 0; k < taps; ++k) {
                for (size_t kx = 0; kx < window; ++kx) {
                  const uint8_t q =
                      image[(k * columns + x * stride + kx * dilation) * channels + ch];
                  want += (q ^ 128) * filter[(k * window + kx) * loops.lanes + ch];
                }
              }
              ASSERT_EQ(sums[x * loops.lanes + ch], want) << taps << " taps, output " << x;
            }
          }
        }
      }
    }
  }
}

// Halves are rounded to even, and what does not fit is saturated, also far beyond int32.
TEST_P(IntegerLoopsTest, TailsRoundAndSaturate) {
  const std::vector<int32_t> sums = {
      0,       1,  3,  5, -1,     -3,        255,       509, 511,  513,   -255,  -257, -259,
      1000000, -5, -7, 2, 100000, INT32_MAX, INT32_MIN, 40,  -400, 12345, -3000, 8};
  const size_t n = sums.size();
  const std::vector<float> scale(n, 0.5f), bias(n, 0);
  std::vector<float> huge(n, 1e30f);
  for (const float zero : {0.0f, 3.0f}) {
    for (const bool relu : {false, true}) {
      IntegerTail tail;
      tail.scale = scale.data();
      tail.bias = bias.data();
      tail.relu = relu;
      tail.zero = zero;
      std::vector<uint8_t> u8(n);
      std::vector<int8_t> s8(n);
      TailPart part;
      part.sums = sums.data();
      part.rows = 1;
      part.channels = n;
      part.result = u8.data();
      FindIntegerTail(TailSummand::kNone, TailResult::kUnsigned, false)(tail, part);
      part.result = s8.data();
      FindIntegerTail(TailSummand::kNone, TailResult::kSigned, false)(tail, part);
      for (size_t i = 0; i < n; ++i) {
        double real = 0.5 * static_cast<double>(static_cast<float>(sums[i]));
        if (relu) real = std::max(real, 0.0);
        real = std::nearbyint(real + static_cast<double>(zero));
        ASSERT_EQ(u8[i], std::clamp(real, 0.0, 255.0)) << sums[i] << " zero " << zero;
        ASSERT_EQ(s8[i], std::clamp(real, -128.0, 127.0)) << sums[i] << " zero " << zero;
      }
      tail.scale = huge.data();
      FindIntegerTail(TailSummand::kNone, TailResult::kSigned, false)(tail, part);
      for (size_t i = 0; i < n; ++i) {
        const int least = relu ? static_cast<int>(zero) : -128;
        const int want = sums[i] > 0 ? 127 : sums[i] < 0 ? least : static_cast<int>(zero);
        ASSERT_EQ(s8[i], want) << sums[i];
      }
    }
  }
}

// Swish of results that are not integers: a relative error of 2^-20 above -16, and far below, 0.
TEST_P(IntegerLoopsTest, SwishOfFloats) {
  std::vector<int32_t> sums;
  for (int i = -30000; i <= 30000; i += 7) sums.push_back(i);
  sums.insert(sums.end(), {INT32_MIN, INT32_MAX, -2000000, 2000000});
  const size_t n = sums.size();
  const std::vector<float> scale(n, 1.0f / 1024), bias(n, 0.25f);
  std::vector<float> result(n);
  IntegerTail tail;
  tail.scale = scale.data();
  tail.bias = bias.data();
  TailPart part;
  part.sums = sums.data();
  part.result = result.data();
  part.rows = 1;
  part.channels = n;
  FindIntegerTail(TailSummand::kNone, TailResult::kFloat, true)(tail, part);
  for (size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(static_cast<float>(sums[i]) + 0.25f) / 1024;
    const double want = x / (1 + std::exp(-x));
    ASSERT_NEAR(result[i], want, x > -16 ? std::fabs(want) * std::ldexp(1, -20) : 3e-6) << x;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, IntegerLoopsTest, testing::ValuesIn(Targets()),
                         [](const auto& info) { return hwy::TargetName(info.param.bit); });

struct Case {
  const char* name;
  std::vector<int64_t> input;   // NHWC, or rows and terms
  std::vector<int64_t> filter;  // HWIO, or terms and columns
  std::vector<int64_t> strides = {1, 1}, dilations = {1, 1};
  const char* padding = "VALID";
  bool depthwise = false;
  bool transposed = false;  // the filter of a product

  bool product() const { return input.size() == 2; }
};

const Case kCases[] = {
    {"pointwise", {2, 5, 7, 19}, {1, 1, 19, 70}},
    {"pointwise_one_channel", {1, 3, 3, 1}, {1, 1, 1, 1}},
    {"pointwise_many_rows", {3, 21, 20, 24}, {1, 1, 24, 33}},
    {"pointwise_strided", {1, 9, 9, 16}, {1, 1, 16, 17}, {2, 2}},
    {"windows", {2, 9, 8, 5}, {3, 3, 5, 20}, {1, 1}, {1, 1}, "SAME"},
    {"windows_strided", {1, 15, 14, 3}, {7, 7, 3, 8}, {2, 2}, {1, 1}, "SAME"},
    {"windows_dilated", {1, 12, 13, 4}, {3, 2, 4, 9}, {1, 1}, {2, 3}, "SAME"},
    {"windows_larger_than_the_image", {1, 2, 3, 2}, {5, 5, 2, 3}, {1, 1}, {1, 1}, "SAME"},
    {"groups", {2, 6, 6, 12}, {3, 3, 4, 18}, {1, 1}, {1, 1}, "SAME"},
    {"groups_pointwise", {1, 5, 5, 8}, {1, 1, 2, 12}},
    {"long_sums", {1, 2, 2, 1031}, {1, 1, 1031, 9}},
    {"depthwise", {2, 9, 11, 37}, {3, 3, 37, 1}, {1, 1}, {1, 1}, "SAME", true},
    {"depthwise_valid", {1, 9, 70, 16}, {3, 3, 16, 1}, {1, 1}, {1, 1}, "VALID", true},
    {"depthwise_strided", {1, 13, 12, 21}, {5, 5, 21, 1}, {2, 2}, {1, 1}, "SAME", true},
    {"depthwise_dilated", {1, 15, 12, 8}, {3, 3, 8, 1}, {1, 1}, {4, 2}, "SAME", true},
    {"depthwise_of_long_filters", {1, 12, 3, 5}, {9, 2, 5, 1}, {1, 1}, {1, 1}, "SAME", true},
    {"depthwise_larger_than_the_image", {1, 2, 2, 3}, {7, 7, 3, 1}, {1, 1}, {1, 1}, "SAME", true},
    {"depthwise_of_many_channels", {1, 4, 4, 200}, {3, 3, 200, 1}, {1, 1}, {1, 1}, "SAME", true},
    {"product", {5, 23}, {23, 40}},
    {"product_of_one_row", {1, 130}, {130, 67}},
    {"product_transposed", {9, 16}, {30, 16}, {1, 1}, {1, 1}, "VALID", false, true},
};

struct Fused {
  const char* name;
  DType data = DType::kQuint8, result = DType::kQuint8;
  std::optional<DType> summand = std::nullopt;
  bool bias = true, relu = false, swish = false;
  int data_zero = 0, result_zero = 0;
};

const Fused kFused[] = {
    {"plain", DType::kQuint8, DType::kQuint8, std::nullopt, false},
    {"relu", DType::kQuint8, DType::kQuint8, std::nullopt, true, true},
    {"signed_data", DType::kQint8, DType::kQint8},
    {"zero_points", DType::kQuint8, DType::kQuint8, std::nullopt, true, true, false, 117, 9},
    {"signed_zero_points", DType::kQint8, DType::kQint8, std::nullopt, true, false, false, -11, 30},
    {"swish", DType::kQuint8, DType::kQuint8, std::nullopt, true, false, true, 0, 14},
    {"sum", DType::kQuint8, DType::kQuint8, DType::kQint8, true, true},
    {"sum_of_unsigned", DType::kQint8, DType::kQint8, DType::kQuint8},
    {"to_float", DType::kQuint8, DType::kFloat},
    {"to_float_by_relu", DType::kQint8, DType::kFloat, std::nullopt, false, true},
    {"sum_to_float", DType::kQuint8, DType::kFloat, DType::kQint8},
    {"to_float_by_swish", DType::kQuint8, DType::kFloat, std::nullopt, true, false, true},
};

class IntegerKernelsTest : public testing::TestWithParam<std::tuple<Target, Case>> {
 protected:
  void SetUp() override { UseTarget(std::get<0>(GetParam()).bit); }
  void TearDown() override { UseTarget(0); }
};

struct Problem {
  Node node;
  QuantizedFusion fusion;
  std::vector<Tensor> inputs;
  std::vector<int> constants;
};

Problem ProblemOf(const Case& c, const Fused& f) {
  using Fusion = QuantizedFusion;
  Problem p;
  p.fusion.bias = f.bias;
  p.fusion.relu = f.relu;
  p.fusion.swish = f.swish;
  p.fusion.sum = f.summand.has_value() ? Fusion::Sum::kQuantized : Fusion::Sum::kNone;
  p.fusion.result =
      f.result == DType::kFloat ? Fusion::Result::kDequantized : Fusion::Result::kRequantized;
  p.fusion.data_zero = c.product() ? 0 : f.data_zero;
  p.fusion.result_zero = f.result_zero;
  p.fusion.ranges_last = true;

  std::vector<std::string> ops;
  const int64_t channels =
      c.product() ? c.filter[c.transposed ? 0 : 1] : c.filter[c.depthwise ? 2 : 3];
  const bool is_signed = f.data == DType::kQint8;
  p.inputs = {RandomBytes(f.data, Shape(c.input), is_signed ? -128 : 0, is_signed ? 127 : 255),
              RandomBytes(DType::kQint8, Shape(c.filter), -127, 127)};
  AttrMap attrs;
  if (f.bias) {
    ops.push_back("BiasAdd");
    Tensor bias = RandomTensor(DType::kFloat, Shape({channels}), 3);
    for (float& b : bias.flat<float>()) b *= 4;
    p.inputs.push_back(std::move(bias));
  }
  attrs["strides"] = std::vector<int64_t>{1, c.strides[0], c.strides[1], 1};
  attrs["dilations"] = std::vector<int64_t>{1, c.dilations[0], c.dilations[1], 1};
  attrs["padding"] = std::string(c.padding);
  Node shape_node = MakeNode(c.product()   ? "MatMul"
                             : c.depthwise ? "DepthwiseConv2dNative"
                                           : "Conv2D",
                             attrs);
  if (c.product()) shape_node.attrs = {{"transpose_b", c.transposed}};
  shape_node.attrs["T"] = DType::kFloat;
  const auto shaped = RunNode(shape_node,
                              {RandomTensor(DType::kFloat, Shape(c.input), 1),
                               RandomTensor(DType::kFloat, Shape(c.filter), 1)},
                              {});
  EXPECT_TRUE(shaped.ok()) << shaped.status();
  if (f.summand.has_value()) {
    ops.push_back(c.product() ? "Add" : "Sum");
    const bool low = *f.summand == DType::kQint8;
    p.inputs.push_back(
        RandomBytes(*f.summand, shaped->outputs[0].shape(), low ? -128 : 0, low ? 127 : 255));
  }
  if (f.relu) ops.push_back("Relu");
  if (f.swish) ops.push_back("_Swish");
  ops.push_back(f.result == DType::kFloat ? "Dequantize" : "Requantize");
  const auto range = [&](float min, float max) {
    p.inputs.push_back(Tensor::Scalar(min));
    p.inputs.push_back(Tensor::Scalar(max));
  };
  range(is_signed ? -2.0f : 0.0f, 2.0f);
  std::vector<float> low(static_cast<size_t>(channels)), high(low);
  for (size_t i = 0; i < low.size(); ++i) {
    high[i] = 0.05f * static_cast<float>(1 + i % 7);
    low[i] = -high[i];
  }
  p.inputs.push_back(Tensor::Vector(low));
  p.inputs.push_back(Tensor::Vector(high));
  if (f.summand.has_value()) range(*f.summand == DType::kQint8 ? -3.0f : 0.0f, 3.0f);
  if (f.result != DType::kFloat) range(f.result == DType::kQint8 ? -4.0f : 0.0f, 4.0f);

  for (size_t i = 1; i < p.inputs.size(); ++i) {
    const bool is_summand = f.summand.has_value() && i == (f.bias ? 3u : 2u);
    if (!is_summand) p.constants.push_back(static_cast<int>(i));
  }
  std::vector<DType> dtypes;
  for (const Tensor& t : p.inputs) dtypes.push_back(t.dtype());
  attrs["fused_ops"] = ops;
  attrs["Tdevice_inputs"] = dtypes;
  attrs["Thost_inputs"] = std::vector<DType>();
  attrs["Tdevice_outputs"] = f.result == DType::kFloat
                                 ? std::vector<DType>{DType::kFloat}
                                 : std::vector<DType>{f.result, DType::kFloat, DType::kFloat};
  attrs["Thost_outputs"] = std::vector<DType>();
  if (c.product()) {
    for (const char* name : {"strides", "dilations", "padding"}) attrs.erase(name);
    attrs["T1"] = f.data;
    attrs["T2"] = DType::kQint8;
    attrs["transpose_b"] = c.transposed;
    attrs["Tout"] = f.result;
    if (f.summand.has_value()) attrs["U"] = *f.summand;
  } else {
    attrs["Tinput"] = f.data;
    attrs["Tfilter"] = DType::kQint8;
    attrs["Tbias"] = DType::kFloat;
    attrs["out_type"] = f.result;
    attrs["data_zero"] = int64_t{f.data_zero};
    if (f.summand.has_value()) attrs["Tsummand"] = *f.summand;
  }
  attrs["result_zero"] = int64_t{f.result_zero};
  // op names: those with a fusion as an attribute.
  p.node = MakeNode(c.product()   ? "_QuantizedMatMul"
                    : c.depthwise ? "_FusedQuantizedDepthwiseConv2D"
                                  : "_FusedQuantizedConv2D",
                    attrs);
  return p;
}

absl::StatusOr<std::unique_ptr<Kernel>> PrepareOwn(const Case& c, const Problem& problem,
                                                   PrepareContext& p) {
  if (c.product()) {
    IntegerProduct product;
    product.fusion = problem.fusion;
    product.rows = static_cast<size_t>(c.input[0]);
    product.matrix.terms = static_cast<size_t>(c.input[1]);
    product.matrix.columns = static_cast<size_t>(c.filter[c.transposed ? 0 : 1]);
    product.matrix.term_stride = c.transposed ? 1 : product.matrix.columns;
    product.matrix.column_stride = c.transposed ? product.matrix.terms : 1;
    return PrepareIntegerProduct(p, std::move(product));
  }
  const ConvKind kind = c.depthwise ? ConvKind::kDepthwise : ConvKind::kDense;
  auto g = ResolveConv(p.attrs(), 2, kind, p.input_shape(0), p.input_shape(1));
  if (!g.ok()) return g.status();
  return c.depthwise ? IntegerDepthwiseConv(p, *g, problem.fusion)
                     : IntegerConv(p, *g, problem.fusion);
}

void ExpectSame(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  if (want.dtype() == DType::kFloat) {
    ASSERT_LT(RelativeError(got, want), 2e-6);
    return;
  }
  // Another rounding of real numbers may round an integer the other way, rarely.
  int64_t different = 0, inside = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const int a = want.dtype() == DType::kQint8 ? got.data<int8_t>()[i] : got.data<uint8_t>()[i];
    const int b = want.dtype() == DType::kQint8 ? want.data<int8_t>()[i] : want.data<uint8_t>()[i];
    ASSERT_LE(std::abs(a - b), 1) << "element " << i;
    different += a != b;
    inside += b != 0 && b != 255 && b != -128 && b != 127;
  }
  if (want.num_elements() >= 100) {
    EXPECT_GE(inside, want.num_elements() / 8) << "the case saturates";
  }
  EXPECT_LE(different, 1 + want.num_elements() / 100);
}

TEST_P(IntegerKernelsTest, AgreesWithTheReference) {
  const Case& c = std::get<1>(GetParam());
  for (const Fused& f : kFused) {
    SCOPED_TRACE(f.name);
    const Problem problem = ProblemOf(c, f);
    const auto want = RunNode(problem.node, problem.inputs, {.constants = problem.constants});
    ASSERT_TRUE(want.ok()) << want.status();
    EXPECT_EQ(want->implementation, "reference");
    for (const bool constant_ranges : {true, false}) {
      for (const int threads : {1, 3}) {
        std::vector<TensorSpec> specs, outputs;
        std::vector<std::unique_ptr<Constant>> owned;
        std::vector<Constant*> constants(problem.inputs.size(), nullptr);
        for (const Tensor& t : problem.inputs) specs.push_back({t.dtype(), t.shape(), nullptr});
        for (const Tensor& t : want->outputs) outputs.push_back({t.dtype(), t.shape(), nullptr});
        for (int i : problem.constants) {
          if (!constant_ranges && i > (f.bias ? 2 : 1)) continue;
          owned.push_back(std::make_unique<Constant>(problem.inputs[static_cast<size_t>(i)]));
          constants[static_cast<size_t>(i)] = owned.back().get();
        }
        const Flags flags;
        const Services services{&flags, nullptr, threads};
        PrepareContext p(problem.node, specs, constants, outputs, services);
        const auto kernel = PrepareOwn(c, problem, p);
        ASSERT_TRUE(kernel.ok()) << kernel.status();
        std::vector<const void*> in;
        for (const Tensor& t : problem.inputs) in.push_back(t.raw());
        for (int i : p.unread()) in[static_cast<size_t>(i)] = nullptr;
        std::vector<Tensor> results;
        std::vector<void*> out;
        for (const TensorSpec& o : outputs) {
          results.push_back(*Tensor::Allocate(o.dtype, o.shape));
          out.push_back(results.back().raw());
        }
        // The summand, where the result may overwrite it.
        EXPECT_EQ(p.in_place().size(),
                  f.summand.has_value() && f.result != DType::kFloat ? 1u : 0u);
        for (const auto& [input, output] : p.in_place()) {
          Tensor& result = results[static_cast<size_t>(output)];
          const Tensor& summand = problem.inputs[static_cast<size_t>(input)];
          ASSERT_EQ(result.bytes(), summand.bytes());
          std::memcpy(result.raw(), summand.raw(), summand.bytes());
          in[static_cast<size_t>(input)] = result.raw();
        }
        Tensor scratch =
            *Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(p.scratch_bytes())}));
        RunContext run(in.data(), out.data(), scratch.raw());
        ASSERT_TRUE((*kernel)->Run(run).ok());
        ExpectSame(results[0], want->outputs[0]);
        for (size_t o = 1; o < results.size(); ++o) {
          EXPECT_EQ(results[o].data<float>()[0], want->outputs[o].data<float>()[0]);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, IntegerKernelsTest,
                         testing::Combine(testing::ValuesIn(Targets()), testing::ValuesIn(kCases)),
                         [](const auto& info) {
                           return std::string(hwy::TargetName(std::get<0>(info.param).bit)) + "_" +
                                  std::get<1>(info.param).name;
                         });

// A packed filter gives the plain one back, so that a session need not keep both.
TEST(IntegerPanelsTest, Unpack) {
  for (const size_t word_terms : {2, 4}) {
    for (const bool transposed : {false, true}) {
      NarrowMatrix m;
      m.groups = transposed ? 1 : 3;
      m.terms = 7;
      m.columns = 21;
      m.term_stride = transposed ? 1 : m.groups * m.columns;
      m.column_stride = transposed ? m.terms : 1;
      m.width = 16;
      m.word_terms = word_terms;
      const auto layout = NarrowPanels(m, 2);
      std::vector<int8_t> plain(m.groups * m.terms * m.columns), back(plain.size());
      for (int8_t& w : plain) w = static_cast<int8_t>(Random(-128, 127));
      std::vector<char> packed(layout->bytes());
      ASSERT_TRUE(layout->Pack(plain.data(), packed.data()).ok());
      ASSERT_TRUE(layout->Unpack(packed.data(), back.data()).ok());
      EXPECT_EQ(back, plain);
    }
  }
}

}  // namespace
}  // namespace tenon
