// Recognizes scaled dot-product attention around a Softmax: the product of q and k before it, what
// changes the scores in between, and the product with v after it.
#ifndef TENON_GRAPH_REWRITE_ATTENTION_H_
#define TENON_GRAPH_REWRITE_ATTENTION_H_

#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// A tensor with the labels of its dimensions; digits are indices (kernels/attention/attention.h).
struct LabeledInput {
  Endpoint e;
  std::string labels;
};

// A Shape node that reads a tensor with these labels, and needs no more than its shape.
struct LabeledShape {
  NodeId node = kNoNode;
  std::string labels;
  std::vector<size_t> of = {0, 1};  // the operands to which the tensor's dimensions broadcast
  char joined = 0;  // the dimensions with this label and with the next one are one dimension of it
};

struct AttentionForm {
  std::array<LabeledInput, 3> operands;  // q, k, v
  std::string scores, out, repeated;
  float scale = 1;
  std::vector<std::string> steps;
  std::vector<float> values;
  bool zero_hidden = false;  // zeros for queries from which the last step hides all keys
  std::vector<Endpoint> masks, conditions;
  std::vector<LabeledShape> shapes;  // of what is no longer computed
  NodeId product = kNoNode;          // of q and k
  std::vector<int64_t> transposed;   // the order of its dimensions in the scores; empty: its own
  NodeId weights = kNoNode;          // the node that the product with v reads
  NodeId result = kNoNode;           // the node that the attention replaces
  char next = 'a';                   // the next label
  // Windows (Swin): if not 0, masks are added while the first dimension of the scores is split into
  // images and this many windows.
  int64_t windows = 0;
};

// FailedPrecondition with the reason if it is none, or cannot be computed as one.
absl::StatusOr<AttentionForm> FindAttention(RuleContext& context, NodeId softmax);

// Moves past ops that only rearrange or scale: transposes and selected parts of q, k and v,
// repeated heads of k and v, a transpose of the result.
void AbsorbMoves(RuleContext& context, AttentionForm& form);

// Reads heads of k or v before they are repeated one after another: axes of size 1 are added, one
// of them, after the heads, is tiled, and joined with these. `stated`: labels that other operands
// have, too. `label` gets that of the heads, or is that of another operand's; 0: none yet.
bool AbsorbRepeats(RuleContext& context, const Node& join, const LabeledInput& q,
                   const std::string& stated, LabeledInput& x, char& label);

// Where q, k and v have batch and heads joined in one dimension by Reshapes, and a Reshape splits
// that of the result, reads them as they were before, with a label for each of the two. Nothing is
// changed if there are no such Reshapes.
void SplitHeads(RuleContext& context, AttentionForm& form);

// Adds the Shape nodes that alone would keep the operand's producer, of one output, once attention
// reads what comes before it.
void AddFreedShapes(RuleContext& context, const LabeledInput& x, size_t operand,
                    std::vector<LabeledShape>& shapes);

// Takes ops into account that change q and k in ways that cancel, or that can change places with
// transposes: the same order of the elements of each row of q and k, and rotary embeddings. Adds
// nodes, so it is for a form that will become an op. AbsorbMoves may find more after it.
void MoveProducers(RuleContext& context, AttentionForm& form);

// The only reader of the node's result apart from Shape nodes, which are added to `shapes`;
// otherwise kNoNode.
NodeId ReaderBesideShapes(RuleContext& context, NodeId id, std::vector<NodeId>& shapes);

// Splits the label of the first dimension into images and windows: q, k and v are reshaped, and the
// result of the op, whose labels are then `form.out`, is to be reshaped to `merged`. Nothing is
// changed if it fails.
absl::Status SplitWindows(RuleContext& context, AttentionForm& form, std::vector<int32_t>& merged);
// Adds a Reshape to constant dimensions.
Endpoint AddReshape(RuleContext& context, Endpoint e, std::vector<int32_t> dims);

// Computes the shapes of what is no longer computed from those of q, k and v.
void ReplaceShapes(RuleContext& context, const AttentionForm& form);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_ATTENTION_H_
