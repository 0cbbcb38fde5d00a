// Decides what is quantized in a float graph: the contractions, and the tensors that become 8-bit
// integers.
//
// A tensor is quantized as a whole: all its readers (except the graph's outputs, and what makes
// indices, comparisons and the like of it) get the dequantized form, so that its producer can give
// integers alone. These tensors are
//   - the data of every quantized contraction (before a zero Pad in between),
//   - the other operand of a residual sum after a contraction,
//   - the result of a contraction with a residual sum or a Relu6, whoever reads it,
//   - the inputs from which MaxPool, Pad, Reshape and ConcatV2 make one of these; they share one
//     range.
#ifndef TENON_RUNTIME_QUANTIZE_SCHEME_H_
#define TENON_RUNTIME_QUANTIZE_SCHEME_H_

#include <string>
#include <vector>

#include "graph_rewrite/context.h"
#include "runtime/quantize/range.h"

namespace tenon {

// A contraction with constant weights.
struct Layer {
  NodeId node = kNoNode;
  std::string name;
  Endpoint data;     // before the Pads in between
  Endpoint weights;  // a Const
  int channel_axis = 0;
  std::string kept;  // why it stays in fp32; empty: quantized
};

struct QuantizedTensor {
  Endpoint tensor;
  int group = 0;  // tensors of one group share a range
  // True if it is never negative, whatever the inputs are, or if it is a graph input (then the
  // samples decide).
  bool never_negative = false;
  bool is_input = false;
  bool at_most_six = false;
};

struct Scheme {
  std::vector<QuantizedTensor> tensors;
  int num_groups = 0;
};

// In topological order, with the reasons in the graph for keeping a layer in fp32.
absl::StatusOr<std::vector<Layer>> FindLayers(RuleContext& context);

// For the quantized layers.
absl::StatusOr<Scheme> ChooseTensors(RuleContext& context, const std::vector<Layer>& layers);

// Takes tensors out of a group whose range would leave them few steps: the group is divided where a
// range is less than an eighth of the one before, in order of size. `own`: by tensor.
void SplitGroups(Scheme& scheme, const std::vector<ValueRange>& own);

// Whether rounding the tensors that a node reads may change its results by a whole step, as it does
// to an index, a comparison or a rounded number.
bool NeedsExactValues(const RuleContext& context, NodeId reader);

// Whether `e` is a Pad with constant paddings and zeros that has no other reader.
bool IsZeroPad(const RuleContext& context, Endpoint e);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_SCHEME_H_
