// What of a float graph is quantized: the contractions, and the tensors that become 8-bit integers.
//
// A tensor is quantized as a whole: all its readers (but the graph's outputs) get the dequantized
// form, so that what computes it can give integers alone. These are
//   - the data of every quantized contraction (before a zero Pad that stands between),
//   - the other operand of a residual sum behind a contraction,
//   - the result of a contraction with a residual sum or a Relu6, whoever reads it,
//   - what MaxPool, Pad, Reshape and ConcatV2 read to give one of these; these share one range.
#ifndef TENON_RUNTIME_QUANTIZE_SCHEME_H_
#define TENON_RUNTIME_QUANTIZE_SCHEME_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "graph_rewrite/context.h"

namespace tenon {

// A contraction with constant weights.
struct Layer {
  NodeId node = kNoNode;
  std::string name;
  Endpoint data;     // before the Pads between
  Endpoint weights;  // a Const
  int channel_axis = 0;
  std::string kept;  // why it stays in fp32; empty: quantized
};

struct QuantizedTensor {
  Endpoint tensor;
  int group = 0;  // tensors of one group share a range
  // Never negative whatever the inputs are, or an input of the graph (where the samples decide).
  bool never_negative = false;
  bool is_input = false;
  bool at_most_six = false;
};

struct Scheme {
  std::vector<QuantizedTensor> tensors;
  int num_groups = 0;
};

// In topological order, with the reasons that the graph itself gives for leaving one in fp32.
absl::StatusOr<std::vector<Layer>> FindLayers(RuleContext& context);

// For the layers that are not kept.
absl::StatusOr<Scheme> ChooseTensors(RuleContext& context, const std::vector<Layer>& layers);

// A Pad whose only reader this is, of constant paddings and with zeros.
bool IsZeroPad(const RuleContext& context, Endpoint e);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_SCHEME_H_
