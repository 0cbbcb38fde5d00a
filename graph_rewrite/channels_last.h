// How an op that computes on tensors with channels first, [N, C, spatial...], is written for the
// same tensors with channels last, [N, spatial..., C].
#ifndef TENON_GRAPH_REWRITE_CHANNELS_LAST_H_
#define TENON_GRAPH_REWRITE_CHANNELS_LAST_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// The dimensions of tensors of a rank from 3 to 5.
class ChannelsLast {
 public:
  explicit ChannelsLast(int rank);

  int rank() const { return rank_; }
  // Of a Transpose from channels last to channels first, and back.
  const std::vector<int32_t>& to_first() const { return to_first_; }
  const std::vector<int32_t>& to_last() const { return to_last_; }
  // Where dimension `axis` of channels first is in channels last.
  int64_t Axis(int64_t axis) const { return to_first_[static_cast<size_t>(axis)]; }
  // Facts by dimension, each of `width` numbers.
  template <typename T>
  std::vector<T> Reordered(const std::vector<T>& by_dimension, size_t width = 1) const {
    std::vector<T> out;
    for (const int32_t d : to_last_) {
      for (size_t i = 0; i < width; ++i) {
        out.push_back(by_dimension[static_cast<size_t>(d) * width + i]);
      }
    }
    return out;
  }
  // A constant that is broadcast to the rank, in channels last and with all dimensions.
  absl::StatusOr<Tensor> Operand(const Tensor& value, const Services& services) const;

 private:
  const int rank_;
  std::vector<int32_t> to_first_, to_last_;
};

// What changes of a node. Inputs that are not listed stay.
struct ChannelsLastForm {
  std::vector<int> data;                                 // inputs that change their layout
  std::vector<std::pair<int, Tensor>> constants;         // inputs
  std::vector<std::pair<std::string, AttrValue>> attrs;  // values
  int outputs = 0;                                       // the first ones change their layout
  bool has_format = false;                               // it has the attribute data_format
};

// FailedPrecondition with the reason if the node has no such form.
absl::StatusOr<ChannelsLastForm> FormInChannelsLast(RuleContext& context, NodeId id,
                                                    const ChannelsLast& layout);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CHANNELS_LAST_H_
