#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "kernels/convolution/flat_lines_simd.h"
#include "kernels/convolution/pixel_vectors_simd.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/matmul/tile_product.h"
#include "primitive_cache/isa.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;

struct ConvCase {
  const char* name;
  bool depthwise = false;
  Shape input, filter;
  std::string padding = "SAME";
  int64_t stride = 1;
  int64_t dilation = 1;
  Ints explicit_paddings = {};
  bool nchw = false;
};

const ConvCase kCases[] = {
    {.name = "plain", .input = {1, 9, 7, 16}, .filter = {3, 3, 16, 32}},
    {.name = "one_by_one", .input = {2, 5, 5, 17}, .filter = {1, 1, 17, 13}},
    {.name = "one_pixel", .input = {1, 1, 1, 300}, .filter = {1, 1, 300, 37}, .stride = 2},
    {.name = "one_pixel_batch", .input = {7, 1, 1, 5}, .filter = {1, 1, 5, 33}},
    {.name = "one_pixel_many", .input = {19, 1, 1, 40}, .filter = {1, 1, 40, 33}, .stride = 2},
    {.name = "few_pixels", .input = {2, 1, 3, 67}, .filter = {1, 1, 67, 16}},
    {.name = "small_images", .input = {5, 2, 3, 24}, .filter = {1, 1, 24, 48}},
    {.name = "dots", .input = {2, 9, 11, 7}, .filter = {5, 4, 7, 3}},
    {.name = "dots_one_output", .input = {1, 5, 13, 64}, .filter = {3, 3, 64, 1}},
    {.name = "dots_many_outputs", .input = {1, 7, 17, 12}, .filter = {5, 5, 12, 7}},
    {.name = "dots_strided", .input = {2, 12, 15, 33}, .filter = {3, 5, 33, 4}, .stride = 2},
    {.name = "dots_dilated", .input = {1, 11, 12, 24}, .filter = {3, 3, 24, 5}, .dilation = 3},
    {.name = "dots_beyond_image", .input = {1, 3, 2, 9}, .filter = {7, 9, 9, 2}},
    {.name = "dots_dilated_beyond_image",
     .input = {1, 4, 3, 24},
     .filter = {3, 3, 24, 2},
     .dilation = 4},
    {.name = "dots_valid", .input = {3, 7, 7, 50}, .filter = {7, 7, 50, 2}, .padding = "VALID"},
    {.name = "dots_explicit",
     .input = {1, 6, 9, 19},
     .filter = {3, 4, 19, 3},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 4, 1, 0, 7, 0, 0}},
    {.name = "dots_long_sums", .input = {1, 3, 10, 1500}, .filter = {3, 3, 1500, 2}},
    {.name = "dots_one_pixel_filter", .input = {1, 6, 5, 70}, .filter = {1, 1, 70, 2}},
    {.name = "pixels", .input = {3, 9, 11, 1}, .filter = {5, 5, 1, 2}},
    {.name = "pixels_of_an_image", .input = {2, 12, 33, 1}, .filter = {3, 4, 1, 2}, .stride = 2},
    {.name = "pixels_valid", .input = {1, 28, 28, 1}, .filter = {5, 5, 1, 3}, .padding = "VALID"},
    {.name = "pixels_dilated", .input = {1, 9, 20, 1}, .filter = {3, 3, 1, 3}, .dilation = 2},
    {.name = "pixels_beyond_image", .input = {1, 2, 1, 1}, .filter = {7, 9, 1, 2}},
    {.name = "pixels_explicit",
     .input = {1, 6, 9, 1},
     .filter = {3, 4, 1, 2},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 4, 1, 3, 7, 0, 0}},
    // Vectors of 8 and of 16.
    {.name = "wide_pixels", .input = {2, 9, 28, 1}, .filter = {5, 5, 1, 6}},
    {.name = "wide_pixels_of_two", .input = {1, 7, 19, 2}, .filter = {3, 3, 2, 6}},
    {.name = "wide_pixels_of_three", .input = {1, 9, 21, 3}, .filter = {3, 3, 3, 4}},
    // Vectors of 16.
    {.name = "widest_pixels", .input = {1, 9, 70, 3}, .filter = {3, 3, 3, 8}, .stride = 2},
    {.name = "widest_pixels_many", .input = {2, 5, 13, 4}, .filter = {3, 3, 4, 12}},
    {.name = "widest_pixels_five_vectors", .input = {2, 5, 13, 1}, .filter = {3, 3, 1, 10}},
    {.name = "widest_pixels_four_channels", .input = {1, 6, 5, 4}, .filter = {2, 2, 4, 8}},
    {.name = "padded", .input = {2, 10, 13, 5}, .filter = {9, 11, 5, 24}},
    {.name = "padded_line", .input = {1, 1, 500, 5}, .filter = {1, 60, 5, 16}, .stride = 4},
    {.name = "padded_beyond_image", .input = {2, 3, 2, 8}, .filter = {5, 19, 8, 16}},
    {.name = "padded_explicit",
     .input = {1, 6, 9, 36},
     .filter = {3, 4, 36, 16},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 7, 1, 13, 3, 0, 0}},
    {.name = "wide_padding_nchw",
     .input = {2, 16, 12, 11},
     .filter = {9, 11, 16, 16},
     .nchw = true},
    {.name = "padded_depthwise",
     .depthwise = true,
     .input = {2, 9, 17, 20},
     .filter = {3, 21, 20, 1}},
    {.name = "padded_depthwise_line",
     .depthwise = true,
     .input = {1, 1, 300, 24},
     .filter = {1, 15, 24, 1}},
    {.name = "depthwise_wide_padding_nchw",
     .depthwise = true,
     .input = {1, 16, 4, 19},
     .filter = {5, 13, 16, 1},
     .nchw = true},
    {.name = "repeated_channels",
     .depthwise = true,
     .input = {2, 7, 9, 13},
     .filter = {3, 3, 13, 2}},
    {.name = "depthwise_multiplier_valid",
     .depthwise = true,
     .input = {1, 11, 9, 6},
     .filter = {3, 5, 6, 3},
     .padding = "VALID",
     .stride = 2},
    // Lines shorter than a vector, of some vectors, and of more than the loops take at once.
    {.name = "flat_lines", .depthwise = true, .input = {2, 9, 70, 3}, .filter = {5, 5, 3, 1}},
    {.name = "flat_lines_long", .depthwise = true, .input = {1, 5, 701, 1}, .filter = {3, 7, 1, 1}},
    {.name = "flat_lines_short", .depthwise = true, .input = {1, 7, 2, 1}, .filter = {4, 3, 1, 1}},
    {.name = "flat_lines_multiplier",
     .depthwise = true,
     .input = {2, 6, 33, 1},
     .filter = {3, 3, 1, 3}},
    {.name = "flat_lines_valid",
     .depthwise = true,
     .input = {1, 16, 37, 2},
     .filter = {11, 11, 2, 1},
     .padding = "VALID"},
    {.name = "flat_lines_dilated",
     .depthwise = true,
     .input = {2, 15, 21, 3},
     .filter = {3, 5, 3, 1},
     .dilation = 2},
    {.name = "flat_lines_beyond_image",
     .depthwise = true,
     .input = {1, 2, 3, 3},
     .filter = {9, 13, 3, 1}},
    {.name = "flat_lines_explicit",
     .depthwise = true,
     .input = {1, 6, 20, 1},
     .filter = {3, 4, 1, 2},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 2, 1, 5, 0, 0, 0}},
    {.name = "rows", .input = {2, 5, 7, 18}, .filter = {1, 1, 18, 70}},
    {.name = "rows_large", .input = {1, 9, 7, 400}, .filter = {1, 1, 400, 500}},
    {.name = "rows_few", .input = {1, 2, 3, 40}, .filter = {1, 1, 40, 90}},
    {.name = "window_rows", .input = {2, 9, 13, 6}, .filter = {5, 4, 6, 20}, .stride = 2},
    // Sums in one part and in several.
    {.name = "window_rows_odd", .input = {2, 1, 301, 41}, .filter = {1, 3, 41, 19}},
    {.name = "window_rows_odd_channels", .input = {1, 1, 40, 300}, .filter = {1, 4, 300, 33}},
    {.name = "window_rows_odd_strided",
     .input = {2, 1, 157, 67},
     .filter = {1, 5, 67, 100},
     .padding = "VALID",
     .stride = 2},
    {.name = "window_rows_odd_image", .input = {2, 7, 30, 70}, .filter = {1, 4, 70, 72}},
    {.name = "window_rows_odd_outside_the_image",
     .input = {1, 3, 5, 36},
     .filter = {1, 9, 36, 17},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 5, 2, 12, 21, 0, 0}},
    {.name = "window_rows_line", .input = {1, 1, 90, 8}, .filter = {1, 5, 8, 16}},
    {.name = "window_rows_valid",
     .input = {1, 9, 8, 7},
     .filter = {4, 2, 7, 33},
     .padding = "VALID"},
    {.name = "small_groups", .input = {2, 9, 15, 32}, .filter = {3, 3, 4, 32}},
    {.name = "small_groups_of_two", .input = {1, 7, 8, 22}, .filter = {3, 4, 2, 22}, .stride = 2},
    {.name = "small_groups_dilated",
     .input = {1, 8, 13, 20},
     .filter = {3, 3, 4, 20},
     .dilation = 2},
    {.name = "small_groups_pointwise", .input = {1, 3, 5, 12}, .filter = {1, 1, 4, 12}},
    {.name = "small_groups_beyond_image", .input = {1, 2, 1, 8}, .filter = {5, 5, 4, 8}},
    {.name = "groups_of_three", .input = {1, 6, 7, 9}, .filter = {3, 3, 3, 9}},
    {.name = "groups_of_one_to_four", .input = {1, 6, 7, 8}, .filter = {3, 3, 1, 32}},
    {.name = "one_by_one_strided", .input = {1, 8, 8, 64}, .filter = {1, 1, 64, 32}, .stride = 2},
    {.name = "image", .input = {1, 31, 33, 3}, .filter = {7, 7, 3, 64}, .stride = 2},
    {.name = "image_3x3", .input = {1, 32, 32, 3}, .filter = {3, 3, 3, 32}, .stride = 2},
    {.name = "one_channel", .input = {3, 10, 10, 1}, .filter = {3, 3, 1, 1}, .padding = "VALID"},
    {.name = "odd", .input = {2, 11, 6, 5}, .filter = {2, 4, 5, 7}, .stride = 3},
    {.name = "dilated", .input = {1, 12, 12, 8}, .filter = {3, 3, 8, 24}, .dilation = 2},
    {.name = "explicit",
     .input = {1, 9, 9, 8},
     .filter = {3, 3, 8, 16},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 0, 1, 2, 3, 0, 0}},
    {.name = "grouped", .input = {1, 7, 7, 32}, .filter = {3, 3, 8, 64}},
    {.name = "nchw", .input = {2, 16, 7, 9}, .filter = {3, 3, 16, 8}, .nchw = true},
    {.name = "window_is_image", .input = {2, 4, 4, 8}, .filter = {4, 4, 8, 10}, .padding = "VALID"},
    {.name = "asymmetric", .input = {1, 17, 17, 32}, .filter = {1, 7, 32, 24}},
    // Filters large enough for a matrix product if they are not constant.
    {.name = "large_filter", .input = {1, 7, 7, 160}, .filter = {3, 3, 160, 192}},
    {.name = "large_filter_explicit",
     .input = {2, 9, 8, 130},
     .filter = {3, 4, 130, 177},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 0, 3, 2, 1, 0, 0}},
    {.name = "large_filter_dilated",
     .input = {1, 8, 8, 130},
     .filter = {3, 3, 130, 230},
     .dilation = 2},
    {.name = "large_filter_1x1", .input = {3, 7, 7, 513}, .filter = {1, 1, 513, 520}},
    // With AVX2, rows gathered for one matrix product.
    {.name = "gathered", .input = {2, 1, 301, 41}, .filter = {1, 3, 41, 16}},
    {.name = "gathered_channels", .input = {1, 1, 40, 300}, .filter = {1, 4, 300, 48}},
    {.name = "gathered_strided",
     .input = {2, 1, 157, 67},
     .filter = {1, 3, 67, 32},
     .padding = "VALID",
     .stride = 2},
    {.name = "gathered_filter", .input = {3, 15, 14, 128}, .filter = {3, 3, 128, 131}, .stride = 2},
    {.name = "gathered_column", .input = {1, 9, 7, 260}, .filter = {3, 1, 260, 200}},
    {.name = "gathered_patches",
     .input = {2, 13, 11, 64},
     .filter = {2, 2, 64, 21},
     .padding = "VALID",
     .stride = 2},
    {.name = "blocks_of_few_pixels", .input = {1, 7, 7, 330}, .filter = {1, 1, 330, 400}},
    {.name = "gathered_few_pixels",
     .input = {2, 9, 11, 321},
     .filter = {1, 1, 321, 96},
     .stride = 2},
    {.name = "gathered_outside_the_image",
     .input = {1, 3, 5, 36},
     .filter = {1, 9, 36, 16},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 5, 2, 12, 21, 0, 0}},
    // With AVX-512, too, since neighboring windows share sets of the cache.
    {.name = "sets", .input = {2, 1, 131, 512}, .filter = {1, 3, 512, 97}, .stride = 2},
    {.name = "sets_adjacent", .input = {1, 1, 37, 1024}, .filter = {1, 2, 1024, 100}},
    {.name = "sets_square", .input = {1, 11, 9, 512}, .filter = {3, 3, 512, 96}, .stride = 2},
    {.name = "sets_pointwise",
     .input = {2, 15, 17, 512},
     .filter = {1, 1, 512, 99},
     .padding = "VALID",
     .stride = 2},
    // With AVX2, overlapping lines as one matrix product; with AVX-512, on a padded copy.
    {.name = "lines", .input = {2, 3, 131, 1}, .filter = {1, 64, 1, 8}},
    {.name = "lines_strided",
     .input = {1, 1, 500, 1},
     .filter = {1, 80, 1, 33},
     .padding = "VALID",
     .stride = 4},
    {.name = "lines_of_a_long_sum", .input = {2, 1, 140, 4}, .filter = {1, 100, 4, 17}},
    {.name = "lines_of_high_windows",
     .input = {2, 9, 70, 3},
     .filter = {5, 17, 3, 18},
     .stride = 2},
    {.name = "lines_more_padding_behind",
     .input = {1, 11, 60, 2},
     .filter = {3, 25, 2, 40},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 4, 1, 3, 30, 0, 0}},
    {.name = "lines_outside_the_image",
     .input = {1, 2, 5, 1},
     .filter = {1, 48, 1, 20},
     .padding = "EXPLICIT",
     .stride = 2,
     .explicit_paddings = {0, 0, 3, 3, 60, 71, 0, 0}},
    {.name = "lines_behind_the_image",
     .input = {1, 1, 10, 1},
     .filter = {1, 50, 1, 8},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 0, 0, 0, 200, 0, 0}},
    {.name = "lines_before_the_image",
     .input = {1, 1, 10, 2},
     .filter = {1, 50, 2, 8},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 0, 0, 230, 0, 0, 0}},
    // With AVX2, windows computed tap by tap.
    {.name = "taps", .input = {2, 1, 301, 17}, .filter = {1, 3, 17, 19}, .dilation = 70},
    {.name = "taps_of_many_channels",
     .input = {1, 1, 80, 300},
     .filter = {1, 4, 300, 33},
     .dilation = 20},
    {.name = "taps_causal",
     .input = {2, 1, 190, 24},
     .filter = {1, 2, 24, 40},
     .padding = "EXPLICIT",
     .dilation = 64,
     .explicit_paddings = {0, 0, 0, 0, 64, 0, 0, 0}},
    {.name = "taps_of_an_image",
     .input = {2, 21, 19, 16},
     .filter = {3, 3, 16, 32},
     .dilation = 12},
    {.name = "taps_valid",
     .input = {3, 2, 50, 32},
     .filter = {1, 5, 32, 16},
     .padding = "VALID",
     .dilation = 9},
    {.name = "taps_outside_the_image",
     .input = {1, 3, 5, 16},
     .filter = {2, 2, 16, 16},
     .padding = "EXPLICIT",
     .dilation = 5,
     .explicit_paddings = {0, 0, 9, 30, 40, 7, 0, 0}},
    // Large enough for Winograd's algorithm if the filter is constant.
    {.name = "winograd", .input = {1, 28, 28, 32}, .filter = {3, 3, 32, 48}},
    {.name = "winograd_valid",
     .input = {3, 17, 19, 32},
     .filter = {3, 3, 32, 64},
     .padding = "VALID"},
    {.name = "winograd_odd", .input = {2, 13, 11, 49}, .filter = {3, 3, 49, 67}},
    {.name = "winograd_explicit",
     .input = {1, 27, 18, 64},
     .filter = {3, 3, 64, 32},
     .padding = "EXPLICIT",
     .explicit_paddings = {0, 0, 0, 2, 1, 0, 0, 0}},
    {.name = "winograd_small_image", .input = {8, 7, 7, 128}, .filter = {3, 3, 128, 32}},
    {.name = "winograd_nchw", .input = {1, 32, 21, 21}, .filter = {3, 3, 32, 32}, .nchw = true},
    {.name = "depthwise", .depthwise = true, .input = {1, 14, 14, 96}, .filter = {3, 3, 96, 1}},
    {.name = "depthwise_strided",
     .depthwise = true,
     .input = {2, 15, 13, 20},
     .filter = {5, 5, 20, 1},
     .stride = 2},
    {.name = "depthwise_multiplier",
     .depthwise = true,
     .input = {1, 8, 8, 6},
     .filter = {3, 3, 6, 3}},
    {.name = "depthwise_nchw",
     .depthwise = true,
     .input = {1, 24, 8, 8},
     .filter = {3, 3, 24, 1},
     .nchw = true},
    {.name = "depthwise_one_pixel",
     .depthwise = true,
     .input = {1, 1, 1, 40},
     .filter = {3, 3, 40, 1}},
    {.name = "depthwise_one_channel",
     .depthwise = true,
     .input = {1, 8, 8, 1},
     .filter = {3, 3, 1, 4}},
};

AttrMap ConvAttrs(const ConvCase& c, DType dtype) {
  const int64_t s = c.stride, d = c.dilation;
  AttrMap attrs{{"T", dtype}, {"padding", c.padding}};
  attrs["strides"] = c.nchw ? Ints{1, 1, s, s} : Ints{1, s, s, 1};
  attrs["dilations"] = c.nchw ? Ints{1, 1, d, d} : Ints{1, d, d, 1};
  attrs["data_format"] = c.nchw ? "NCHW" : "NHWC";
  attrs["explicit_paddings"] = c.explicit_paddings;
  return attrs;
}

int64_t Length(const ConvCase& c) {
  return c.filter[0] * c.filter[1] * (c.depthwise ? 1 : c.filter[2]);
}

class Conv : public testing::TestWithParam<ConvCase> {};

TEST_P(Conv, MatchesReference) {
  const ConvCase& c = GetParam();
  const std::string op = c.depthwise ? "DepthwiseConv2dNative" : "Conv2D";
  const std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, c.input, 1),
                                      RandomTensor(DType::kFloat, c.filter, 2)};
  for (int threads : {1, 2}) {
    for (bool constant : {false, true}) {
      NodeRunOptions options{.threads = threads, .cache = constant};
      if (constant) options.constants = {1};
      ExpectNativeMatches(op, ConvAttrs(c, DType::kFloat), inputs, options, Length(c));
    }
  }
}

TEST_P(Conv, FusedMatchesReference) {
  const ConvCase& c = GetParam();
  const std::string op = c.depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D";
  AttrMap attrs = ConvAttrs(c, DType::kFloat);
  const std::vector<Tensor> plain = {RandomTensor(DType::kFloat, c.input, 3),
                                     RandomTensor(DType::kFloat, c.filter, 4)};
  absl::StatusOr<RunResult> conv =
      RunNode(MakeNode(c.depthwise ? "DepthwiseConv2dNative" : "Conv2D", attrs), plain, {});
  ASSERT_TRUE(conv.ok()) << conv.status();
  const Shape out = conv->outputs[0].shape();
  const int64_t channels = out[c.nchw ? 1 : 3];
  const Tensor bias = RandomTensor(DType::kFloat, Shape({channels}), 5);
  const Tensor residual = RandomTensor(DType::kFloat, out, 6);
  const Tensor scale = RandomTensor(
      DType::kFloat, c.nchw ? Shape({out[0], channels, 1, 1}) : Shape({out[0], 1, 1, channels}), 7);

  struct Chain {
    Names ops;
    std::vector<Tensor> args;
  };
  const Chain chains[] = {
      {{"BiasAdd"}, {bias}},
      {{"Relu"}, {}},
      {{"BiasAdd", "Relu6"}, {bias}},
      {{"BiasAdd", "Elu"}, {bias}},
      {{"BiasAdd", "Add", "Relu"}, {bias, residual}},
      {{"BiasAdd", "Relu", "Add"}, {bias, residual}},
      {{"Add"}, {residual}},
      {{"Add", "LeakyRelu"}, {residual}},
      {{"BiasAdd", "Sigmoid", "Mul"}, {bias, residual}},
      {{"BiasAdd", "_MklSwish"}, {bias}},
      {{"BiasAdd", "GeluExact"}, {bias}},
      {{"BiasAdd", "_FusedHardSwish"}, {bias}},
      {{"Mul", "BiasAdd", "Tanh"}, {scale, bias}},
      {{"BiasAdd", "Add", "Add", "Relu"}, {bias, residual, residual}},
      {{"FusedBatchNorm", "Relu"},
       {bias, bias, bias, RandomTensor(DType::kFloat, Shape({channels}), 8, 0.5f, 2.0f)}},
  };
  for (const Chain& chain : chains) {
    attrs["fused_ops"] = chain.ops;
    attrs["num_args"] = static_cast<int64_t>(chain.args.size());
    attrs["leakyrelu_alpha"] = 0.3f;
    attrs["epsilon"] = 0.001f;
    std::vector<Tensor> inputs = plain;
    inputs.insert(inputs.end(), chain.args.begin(), chain.args.end());
    std::string label;
    for (const std::string& name : chain.ops) label += name + " ";
    SCOPED_TRACE(label);
    for (bool in_place : {false, true}) {
      ExpectNativeMatches(op, attrs, inputs, {.threads = 2, .constants = {1}, .in_place = in_place},
                          Length(c));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Conv, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

class OwnConvolutions : public testing::Test {
 protected:
  void SetUp() override { LimitVectorCode(); }  // before VectorTargetName() is asked
};

TEST_F(OwnConvolutions, ServeWhatOnednnComputesSlowly) {
  if (VectorTargetName() != std::string("AVX2") ||
      !absl::StartsWith(OnednnIdentity(), "onednn 2.")) {
    GTEST_SKIP() << "oneDNN has better kernels";
  }
  int cases = 0;
  for (const ConvCase& c : kCases) {
    std::string kernel;
    for (const char* own : {"taps", "lines", "gathered", "blocks"}) {
      if (absl::StartsWith(c.name, own)) kernel = own;
    }
    if (kernel.empty()) continue;
    if (kernel == "gathered") kernel += " blocks";
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation, kernel) << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 23);
}

TEST_F(OwnConvolutions, GatherWindowsThatShareSetsForAvx512) {
  if (!absl::StartsWith(VectorTargetName(), "AVX3")) GTEST_SKIP() << "other conditions decide";
  int cases = 0;
  for (const ConvCase& c : kCases) {
    if (!absl::StartsWith(c.name, "sets")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation, "gathered blocks") << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 4);
}

TEST_F(OwnConvolutions, PadLongWindowsForAvx512) {
  for (const ConvCase& c : kCases) {
    if (!absl::StartsWith(c.name, "lines") || c.padding == std::string("VALID")) continue;
    const Node node = MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat));
    const auto got = RunNode(
        node, {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
        {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    if (!absl::StrContains(got->implementation, "brgconv")) {
      GTEST_SKIP() << "oneDNN's kernel is another: " << got->implementation;
    }
    EXPECT_TRUE(absl::StartsWith(got->implementation, "padded:brgconv"))
        << c.name << " " << got->implementation;
  }
}

TEST_F(OwnConvolutions, ServePaddingThatOnednnComputesSlowly) {
  if (VectorTargetName() != std::string("AVX2") ||
      !absl::StartsWith(OnednnIdentity(), "onednn 2.")) {
    GTEST_SKIP() << "oneDNN has better kernels";
  }
  int cases = 0;
  for (const ConvCase& c : kCases) {
    if (!absl::StartsWith(c.name, "padded") && !absl::StartsWith(c.name, "repeated")) continue;
    const auto got =
        RunNode(MakeNode(c.depthwise ? "_MklNativeDepthwiseConv2dNative" : "_MklNativeConv2D",
                         ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(absl::StartsWith(got->implementation, "padded:jit"))
        << c.name << " " << got->implementation;
    ++cases;
  }
  EXPECT_EQ(cases, 7);
}

// Far outside of the image; also with each channel as a group.
TEST_F(OwnConvolutions, PadDilatedDepthwiseWindows) {
  for (const bool depthwise : {true, false}) {
    AttrMap attrs;
    attrs["T"] = DType::kFloat;
    attrs["strides"] = std::vector<int64_t>{1, 1, 1, 1};
    attrs["dilations"] = std::vector<int64_t>{1, 12, 9, 1};
    attrs["padding"] = std::string("SAME");
    const Shape filter = depthwise ? Shape({3, 3, 40, 1}) : Shape({3, 3, 1, 40});
    const std::string op = depthwise ? "DepthwiseConv2dNative" : "Conv2D";
    const std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, Shape({2, 20, 23, 40}), 1),
                                        RandomTensor(DType::kFloat, filter, 2)};
    const auto got = RunNode(MakeNode("_MklNative" + op, attrs), inputs, {.constants = {1}});
    const auto want = RunNode(MakeNode(op, attrs), inputs, {});
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE(want.ok()) << want.status();
    EXPECT_FALSE(absl::StartsWith(got->implementation, "jit:")) << got->implementation;
    for (int64_t i = 0; i < want->outputs[0].num_elements(); ++i) {
      ASSERT_NEAR(got->outputs[0].data<float>()[i], want->outputs[0].data<float>()[i], 1e-5);
    }
  }
}

// Those whose names begin with the implementation's.
TEST_F(OwnConvolutions, ServeFewOutputsAndSmallGroups) {
  int cases = 0;
  for (const ConvCase& c : kCases) {
    const bool dots = absl::StartsWith(c.name, "dots");
    if (!dots && !absl::StartsWith(c.name, "small_groups")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation, dots ? "dots" : "small groups") << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 16);
}

// Those for whose pixels the CPU's vectors are wide enough.
TEST_F(OwnConvolutions, ServeNarrowPixels) {
  const size_t lanes = FindPixelVectorLoops().lanes;
  int cases = 0;
  for (const ConvCase& c : kCases) {
    const bool wide = absl::StartsWith(c.name, "wide_pixels");
    const bool widest = absl::StartsWith(c.name, "widest_pixels");
    if (!wide && !widest && !absl::StartsWith(c.name, "pixels")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    if (lanes >= (widest ? 16u : wide ? 8u : 4u)) {
      EXPECT_EQ(got->implementation, "pixel vectors") << c.name;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 13);
}

TEST_F(OwnConvolutions, ServeFewChannelsInFlatLines) {
  int cases = 0;
  for (const ConvCase& c : kCases) {
    if (!absl::StartsWith(c.name, "flat_lines")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeDepthwiseConv2dNative", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    if (FindFlatLoops(1).lanes >= 8) EXPECT_EQ(got->implementation, "flat lines") << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 8);
}

// 5, 6 and 7 results for each pixel have vectors of their own that repeat.
TEST(FlatLoops, RepeatAfterWholePixels) {
  const size_t lanes = FindFlatLoops(1).lanes;
  for (const size_t pixel : {1u, 2u, 3u, 5u, 6u, 7u}) {
    const FlatLoops loops = FindFlatLoops(pixel);
    EXPECT_NE(loops.compute, nullptr) << pixel;
    EXPECT_EQ(loops.phases * lanes % pixel, 0u) << pixel;
  }
  EXPECT_EQ(FindFlatLoops(11).compute, nullptr);
}

TEST_F(OwnConvolutions, ServeRows) {
  int cases = 0;
  for (const ConvCase& c : kCases) {
    const bool windows = absl::StartsWith(c.name, "window_rows");
    if (!windows && !absl::StartsWith(c.name, "rows")) continue;
    const bool large = c.name == std::string("rows_large");
    if (large && (!absl::StartsWith(VectorTargetName(), "AVX3") || HasTileProducts())) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    const bool few = c.name == std::string("rows_few");
    EXPECT_EQ(got->implementation, windows ? "rows of windows" : few ? "panels" : "rows") << c.name;
    ++cases;
  }
  EXPECT_GE(cases, 5);
}

TEST_F(OwnConvolutions, ServeFewPixels) {
  int cases = 0;
  for (const ConvCase& c : kCases) {
    const bool few = absl::StartsWith(c.name, "few_pixels");
    if (!few && !absl::StartsWith(c.name, "one_pixel")) continue;
    const auto got =
        RunNode(MakeNode("_MklNativeConv2D", ConvAttrs(c, DType::kFloat)),
                {RandomTensor(DType::kFloat, c.input, 1), RandomTensor(DType::kFloat, c.filter, 2)},
                {.constants = {1}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->implementation == "panels", c.input[0] * c.input[1] * c.input[2] <= 8) << c.name;
    ++cases;
  }
  EXPECT_EQ(cases, 4);
}

}  // namespace
}  // namespace tenon
