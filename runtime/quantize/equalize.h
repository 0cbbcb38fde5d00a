// Cross-layer equalization: rescales the channels of a tensor to similar ranges before it is
// quantized.
//
// If a tensor's producers and readers are linear in each channel, channel c can be divided by any
// f[c] > 0 in the producers and multiplied in the readers, in constants alone:
//
//   conv(x, w) + b -> relu -> conv(., v)  =  conv(x, w / f) + b / f -> relu -> conv(., f v)
//
// Relu, sums, zero pads and pools in between pass the factor on, so all tensors that they connect
// have the same factor. In a product with a gate of one pixel (squeeze-and-excite), the gate is
// scaled.
#ifndef TENON_RUNTIME_QUANTIZE_EQUALIZE_H_
#define TENON_RUNTIME_QUANTIZE_EQUALIZE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph_rewrite/context.h"
#include "runtime/quantize/scheme.h"

namespace tenon {

// A group of tensors with the same factors, and the places where these are applied.
struct Link {
  struct Place {
    NodeId node = kNoNode;
    int slot = 0;  // a constant, or the gate
    int axis = 0;  // of the constant; -1: a gate
  };
  int64_t channels = 0;
  std::vector<Endpoint> seen;     // those that contractions read
  std::vector<Place> divided;     // in the tensors' producers
  std::vector<Place> multiplied;  // in the tensors' readers
};

// The links of the data of all quantized layers.
std::vector<Link> FindLinks(RuleContext& context, const std::vector<Layer>& layers);

// For each channel (the last dimension): the largest magnitude and the sum of squares.
struct ChannelSizes {
  explicit ChannelSizes(int64_t channels)
      : largest(static_cast<size_t>(channels), 0.0f), squares(largest.size(), 0.0) {}
  void Add(const Tensor& values);

  std::vector<float> largest;
  std::vector<double> squares;
  int64_t rows = 0;
};

// `sizes` cover the link's tensors in all samples. Changes nothing if no factors reduce the
// expected error.
absl::Status Equalize(RuleContext& context, const Link& link, const ChannelSizes& sizes);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_EQUALIZE_H_
