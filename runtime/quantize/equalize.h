// Channels of a tensor that shares one range, brought to like sizes before it is quantized.
//
// Where a tensor's producers and readers are linear in each channel, channel c may be divided by
// any f[c] > 0 where it is made and multiplied where it is read, in constants alone:
//
//   conv(x, w) + b -> relu -> conv(., v)  =  conv(x, w / f) + b / f -> relu -> conv(., f v)
//
// Relu, sums, zero pads and pools in between only pass the factor on, so all tensors that they join
// have the same one. A product with a gate of one pixel (squeeze-and-excite) scales the gate.
#ifndef TENON_RUNTIME_QUANTIZE_EQUALIZE_H_
#define TENON_RUNTIME_QUANTIZE_EQUALIZE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph_rewrite/context.h"
#include "runtime/quantize/scheme.h"

namespace tenon {

// Tensors with the same factors, and where these go.
struct Link {
  struct Place {
    NodeId node = kNoNode;
    int slot = 0;  // a constant, or the gate
    int axis = 0;  // of the constant; -1: a gate
  };
  int64_t channels = 0;
  std::vector<Endpoint> seen;     // those that contractions read
  std::vector<Place> divided;     // in what makes the tensors
  std::vector<Place> multiplied;  // in what reads them
};

// Of the data of layers that are not kept.
std::vector<Link> FindLinks(RuleContext& context, const std::vector<Layer>& layers);

// Of each channel (the last dimension): the largest magnitude and the sum of squares.
struct ChannelSizes {
  explicit ChannelSizes(int64_t channels)
      : largest(static_cast<size_t>(channels), 0.0f), squares(largest.size(), 0.0) {}
  void Add(const Tensor& values);

  std::vector<float> largest;
  std::vector<double> squares;
  int64_t rows = 0;
};

// `sizes`: of the link's tensors in all samples. Nothing changes where no factors make the expected
// error smaller.
absl::Status Equalize(RuleContext& context, const Link& link, const ChannelSizes& sizes);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_EQUALIZE_H_
