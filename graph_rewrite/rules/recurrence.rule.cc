// Recurrent layers: a While over the steps of a sequence becomes one op for the sequence. The
// products of the inputs with their weights are taken out of the loop: for all steps, they are one
// matrix product, with the biases of the gates.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/dims.h"
#include "graph_rewrite/recurrent_cell.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/sequence_order.h"
#include "graph_rewrite/sequence_lengths.h"
#include "graph_rewrite/tensor_lists.h"

namespace tenon {
namespace {

using Gate = RecurrentCellForm::Gate;
using Variable = RecurrentLoop::Variable;

// The tensor that a sequence's steps are read from, and how.
struct SequenceSource {
  Endpoint tensor;
  bool time_major = true, reverse = false;
};
SequenceSource SourceOf(RuleContext& context, Endpoint tensor, int64_t rank = 3) {
  SequenceSource s = {.tensor = tensor};
  while (true) {
    const Node& n = context.Candidate(s.tensor);
    if (SwapsTimeAndBatch(context, n)) {
      s.time_major = !s.time_major;
    } else if (Reverses(context, n, s.time_major ? 0 : 1, rank)) {
      s.reverse = !s.reverse;
    } else {
      return s;
    }
    s.tensor = n.inputs[0];
  }
}

Tensor Zeros(const Shape& shape) {
  return Tensor::From<float>(shape, std::vector<float>(static_cast<size_t>(shape.num_elements())));
}

void AddBlock(const ConstantBlock& block, int64_t row, int64_t column, float sign, Tensor& to) {
  const int64_t columns = to.shape().dims().back();
  for (int64_t r = 0; r < block.rows; ++r) {
    for (int64_t c = 0; c < block.columns; ++c) {
      to.data<float>()[(row + r) * columns + column + c] += sign * block.At(r, c);
    }
  }
}

void AddBias(const Gate& gate, int64_t column, int64_t units, Tensor& to) {
  for (const auto& [negative, block] : gate.bias) {
    AddBlock(block, 0, column, negative ? -1.0f : 1.0f, to);
  }
  for (int64_t u = 0; u < units; ++u) {
    to.data<float>()[column + u] += static_cast<float>(gate.number);
  }
}

bool IsZero(const Tensor& t) {
  const auto values = t.flat<float>();
  return std::all_of(values.begin(), values.end(), [](float v) { return v == 0; });
}

class Fusion {
 public:
  Fusion(RuleContext& context, NodeId id) : context_(context), id_(id) {}

  // FailedPrecondition with the reason if the loop stays.
  absl::Status Check() {
    const Node& n = context_.node(id_);
    TENON_ASSIGN_OR_RETURN(loop_, ReadRecurrentLoop(context_, n));
    ++progress_;
    TENON_ASSIGN_OR_RETURN(stack_, FindRecurrentCells(loop_));
    ++progress_;
    TENON_RETURN_IF_ERROR(CheckSteps());
    return CheckReaders();
  }

  absl::Status Apply() {
    const Node loop = context_.node(id_);
    SequenceSource source = SourceOf(context_, TensorOfList(context_, Outer(Input())));
    PutBatchFirst(source);
    int64_t features = DimensionOf(context_, source.tensor, 2).value;
    if (features < 1) return WhyNot("the size of its input is not known");
    TENON_ASSIGN_OR_RETURN(const SequenceSource mask, FindMask(loop, source));
    std::vector<NodeId> added;
    for (const RecurrentCellForm& cell : stack_.cells) {
      const bool is_last = &cell == &stack_.cells.back();
      TENON_ASSIGN_OR_RETURN(const NodeId id, AddCell(loop, cell, is_last, source, features, mask));
      added.push_back(id);
      source = {.tensor = {id, 0}, .time_major = false};
      features = cell.width;
    }
    Replace(added, loop);
    return absl::OkStatus();
  }

  int progress() const { return progress_; }

 private:
  // Its mask, in the order of computation unless reversed; without one, no tensor.
  absl::StatusOr<SequenceSource> FindMask(const Node& loop, const SequenceSource& source) {
    if (stack_.mask < 0) return SequenceSource();
    if (stack_.by_length) {
      TENON_ASSIGN_OR_RETURN(const Endpoint mask,
                             AddLengthMask(context_, loop.name, loop.device, Outer(stack_.mask),
                                           source.tensor, source.time_major ? 0 : 1));
      return SequenceSource{.tensor = mask, .time_major = false};
    }
    const Endpoint tensor = TensorOfList(context_, Outer(stack_.mask));
    const Shape& shape = context_.shapes.shape(tensor);
    return shape.has_rank() ? SourceOf(context_, tensor, shape.rank()) : SequenceSource{tensor};
  }

  // Adds the nodes of one cell, for the whole sequence; returns the _Recurrence.
  absl::StatusOr<NodeId> AddCell(const Node& loop, const RecurrentCellForm& cell, bool is_last,
                                 const SequenceSource& source, int64_t features,
                                 const SequenceSource& mask) {
    const int64_t gates = static_cast<int64_t>(cell.gates.size()), units = cell.units;
    const bool ends_early = end_.node != kNoNode && !source.reverse;
    Node n;
    Tensor input = Zeros(Shape({features, gates * units}));
    Tensor recurrent = Zeros(Shape({cell.width, gates * units}));
    Tensor bias = Zeros(Shape({gates * units}));
    for (int64_t g = 0; g < gates; ++g) {
      const Gate& gate = cell.gates[static_cast<size_t>(g)];
      for (const auto& [row, block] : gate.x) AddBlock(block, row, g * units, 1, input);
      for (const ConstantBlock& block : gate.h) AddBlock(block, 0, g * units, 1, recurrent);
      AddBias(gate, g * units, units, bias);
    }
    Tensor own_bias = Zeros(Shape({units}));
    AddBias(cell.candidate, 0, units, own_bias);
    Tensor peepholes = Zeros(Shape({3, units}));
    for (int64_t i = 0; i < 3; ++i) {
      const ConstantBlock& block = cell.peepholes[i];
      if (block.tensor != nullptr) AddBlock(block, i, 0, 1, peepholes);
    }

    Endpoint steps = source.tensor;
    if (ends_early) {
      TENON_ASSIGN_OR_RETURN(steps, AddFirstSteps(context_, loop.name, loop.device, source.tensor,
                                                  source.time_major ? 0 : 1, end_));
      n.attrs["longer_mask"] = true;
    }
    Node product;
    product.name = absl::StrCat(loop.name, "/input_product");
    product.op = "BatchMatMulV2";
    product.device = loop.device;
    product.inputs = {steps, Const("/input_weights", std::move(input))};
    TENON_ASSIGN_OR_RETURN(const NodeId product_id, Add(std::move(product)));
    Endpoint x = {product_id, 0};
    if (!IsZero(bias)) {
      Node add;
      add.name = absl::StrCat(loop.name, "/input_bias");
      add.op = "BiasAdd";
      add.device = loop.device;
      add.inputs = {x, Const("/bias", std::move(bias))};
      TENON_ASSIGN_OR_RETURN(const NodeId added, Add(std::move(add)));
      x = {added, 0};
    }
    n.name = absl::StrCat(loop.name, "/sequence");
    n.op = "_Recurrence";
    n.device = loop.device;
    n.control_inputs = loop.control_inputs;
    n.inputs = {x, Const("/recurrent_weights", std::move(recurrent)), Outer(cell.h)};
    if (cell.c >= 0) n.inputs.push_back(Outer(cell.c));
    n.attrs["num_states"] = cell.c >= 0 ? 2 : 1;
    if (!IsZero(own_bias)) {
      n.inputs.push_back(Const("/candidate_bias", std::move(own_bias)));
      n.attrs["num_biases"] = 1;
    }
    if (!IsZero(peepholes)) {
      n.inputs.push_back(Const("/peepholes", std::move(peepholes)));
      n.attrs["num_peepholes"] = 1;
    }
    if (mask.tensor.node != kNoNode) {
      n.inputs.push_back(mask.tensor);
      n.attrs["num_masks"] = 1;
      n.attrs["mask_time_major"] = mask.time_major;
      if (mask.reverse) n.attrs["mask_reverse"] = std::vector<int64_t>{1};
    }
    if (cell.projection.tensor != nullptr) {
      Tensor projection = Zeros(Shape({units, cell.width}));
      AddBlock(cell.projection, 0, 0, 1, projection);
      n.inputs.push_back(Const("/projection", std::move(projection)));
      n.attrs["num_projections"] = 1;
      n.attrs["projection_clip"] = static_cast<float>(cell.projection_clip);
    }
    n.attrs["cell_clip"] = static_cast<float>(cell.cell_clip);
    n.attrs["cell"] = cell.cell;
    n.attrs["activations"] = cell.activations;
    if (cell.alpha != 0 || cell.beta != 0) {
      n.attrs["alpha"] = static_cast<float>(cell.alpha);
      n.attrs["beta"] = static_cast<float>(cell.beta);
    }
    n.attrs["time_major"] = source.time_major;
    if (source.reverse) n.attrs["reverse"] = std::vector<int64_t>{1};
    n.attrs["last_only"] = is_last && stack_.results >= 0 &&
                           !loop_.variables[static_cast<size_t>(stack_.results)].every_step;
    n.attrs["zero_masked"] = stack_.zero_masked;
    // Only the next cell reads the results of the others, and not where they are masked.
    if (!is_last) n.attrs["y_time_major"] = false;
    return Add(std::move(n));
  }

  int Input() const { return stack_.cells.front().input; }
  Endpoint Outer(int variable) const {
    return context_.node(id_).inputs[static_cast<size_t>(variable)];
  }
  Endpoint Const(const char* suffix, Tensor value) {
    return {context_.AddConst(absl::StrCat(context_.node(id_).name, suffix), std::move(value)), 0};
  }
  absl::StatusOr<NodeId> Add(Node n) {
    n.attrs["T"] = DType::kFloat;
    return context_.AddNode(std::move(n));
  }

  // Whether the loop takes every item of its lists.
  absl::Status CheckSteps() {
    const Dimension steps = DimensionOf(context_, TensorOfList(context_, Outer(Input())), 0);
    for (const LoopBound& b : loop_.bounds) {
      const Dimension bound =
          b.value >= 0 ? Dimension{.value = b.value} : ScalarDimension(context_, b.outer);
      if (bound == steps) continue;
      // Further steps would change nothing.
      const bool zeros_follow =
          stack_.results < 0 ||
          (stack_.zero_masked && loop_.variables[static_cast<size_t>(stack_.results)].every_step);
      const bool ends_early =
          stack_.by_length && zeros_follow &&
          ReachesAllLengths(context_, b.outer, b.value, steps, Outer(stack_.mask));
      if (!ends_early) return WhyNot("it may not take all steps of its input");
      if (b.outer.node != kNoNode && stack_.results >= 0 &&
          context_.shapes.dtype(b.outer) == DType::kInt32) {
        end_ = b.outer;
      }
    }
    if (stack_.mask >= 0 && !stack_.by_length) {
      const Dimension count = DimensionOf(context_, TensorOfList(context_, Outer(stack_.mask)), 0);
      if (count.value >= 0 && steps.value >= 0 && count.value != steps.value) {
        return WhyNot("its mask has another number of steps");
      }
    }
    if (stack_.held >= 0 && !IsZeroTensor(context_, Outer(stack_.held))) {
      return WhyNot("its masked results do not begin with zeros");
    }
    if (stack_.results < 0) return absl::OkStatus();
    const Variable& results = loop_.variables[static_cast<size_t>(stack_.results)];
    const Node& reserve = context_.Candidate(Outer(stack_.results));
    if (reserve.op != "TensorListReserve") return WhyNot("its results go to a list with items");
    const Dimension items = ScalarDimension(context_, reserve.inputs[1]);
    const Dimension wanted = results.every_step ? steps : Dimension{.value = 1};
    if (!(items == wanted)) return WhyNot("its list of results may have another length");
    items_ = items;
    return absl::OkStatus();
  }

  bool IsRead(Endpoint e) const { return context_.rw.IsOutput(e) || context_.rw.NumReaders(e) > 0; }

  absl::Status CheckReaders() {
    for (size_t i = 0; i < loop_.variables.size(); ++i) {
      if (loop_.variables[i].role == Variable::kHistory && IsRead({id_, static_cast<int>(i)})) {
        return WhyNot("a gradient needs values of every step that only the loop computes");
      }
    }
    for (size_t i = 0; i < loop_.variables.size(); ++i) {
      const int v = static_cast<int>(i);
      const Endpoint port = {id_, v};
      const bool read = IsRead(port);
      if (loop_.variables[i].role == Variable::kCounter && read) {
        return WhyNot("its step counter is read");
      }
      if (v == stack_.held && read) return WhyNot("its last masked result is read");
      if (v != stack_.results) continue;
      if (context_.rw.IsOutput(port))
        return WhyNot("its list of results is an output of the graph");
      for (const Use& use : context_.rw.uses(id_)) {
        if (use.is_control() || use.port != v) continue;
        const Node& reader = context_.Candidate(use.reader);
        // op names: those that take all items in order
        const bool takes_all =
            reader.op == "TensorListStack" ||
            (reader.op == "TensorListGather" && AreAllIndices(context_, reader.inputs[1], items_));
        if (!takes_all) {
          return WhyNot(absl::StrCat("'", context_.node(use.reader).name, "' (",
                                     context_.node(use.reader).op, ") reads its list of results"));
        }
      }
    }
    return absl::OkStatus();
  }

  // If the input is the results of another layer, and the batch is first for all other readers, so
  // it is between the layers: the steps then never come first, and a batch can be taken apart.
  void PutBatchFirst(SequenceSource& source) {
    const Endpoint y = source.tensor;
    const NodeId list = Outer(Input()).node;
    const Node& before = context_.Candidate(y);
    if (!source.time_major || before.op != "_Recurrence" || y.port != 0 ||
        *before.attr<int64_t>("N") != 1 || !*before.attr<bool>("y_time_major") ||
        context_.rw.IsOutput(y) || context_.rw.NumReaders({list, 0}) != 1) {
      return;
    }
    std::vector<NodeId> swaps;
    for (const Use& use : context_.rw.uses(y.node)) {
      if (use.is_control() || use.port != 0 || use.reader == list) continue;
      if (!SwapsTimeAndBatch(context_, context_.Candidate(use.reader))) return;
      swaps.push_back(use.reader);
    }
    context_.rw.SetAttr(y.node, "y_time_major", false);
    for (NodeId swap : swaps) {
      context_.rw.ReplaceAllUses({swap, 0}, y);
      context_.rw.ReplaceControlUses(swap, y.node);
      context_.RemoveIfDead(swap);
    }
    source.time_major = false;
  }

  void Replace(const std::vector<NodeId>& cells, const Node& loop) {
    const NodeId by = cells.back();
    std::vector<NodeId> stacks;
    for (const Use& use : context_.rw.uses(id_)) {
      if (!use.is_control() && use.port == stack_.results) stacks.push_back(use.reader);
    }
    for (NodeId stack : stacks) {
      context_.rw.ReplaceAllUses({stack, 0}, {by, 0});
      context_.rw.ReplaceControlUses(stack, by);
      context_.RemoveIfDead(stack);
    }
    for (size_t i = 0; i < loop_.variables.size(); ++i) {
      const int v = static_cast<int>(i);
      for (size_t k = 0; k < cells.size(); ++k) {
        const RecurrentCellForm& cell = stack_.cells[k];
        if (v == cell.h) context_.rw.ReplaceAllUses({id_, v}, {cells[k], 1});
        if (v == cell.c) context_.rw.ReplaceAllUses({id_, v}, {cells[k], 2});
      }
      if (loop_.variables[i].role == Variable::kInvariant) {
        context_.rw.ReplaceAllUses({id_, v}, loop.inputs[i]);
      }
    }
    context_.rw.ReplaceControlUses(id_, by);
    context_.RemoveIfDead(id_);
    if (!context_.rw.Has(id_)) context_.rw.Rename(by, loop.name);
  }

  RuleContext& context_;
  const NodeId id_;
  RecurrentLoop loop_;
  RecurrentStack stack_;
  Dimension items_;  // of the list of results
  Endpoint end_;     // the number of steps, if it depends on the lengths
  int progress_ = 0;
};

Outcome FuseLoop(RuleContext& context, NodeId id) {
  Fusion fusion(context, id);
  absl::Status status = fusion.Check();
  if (status.ok()) status = fusion.Apply();
  if (status.ok()) return Outcome::Fired();
  // A loop that can be read as one over the steps of a sequence was a candidate.
  return Outcome::Skip(1 + fusion.progress(), std::string(status.message()), id);
}

const RuleRegistration loops({
    .name = "FuseRecurrence",
    .doc =
        "a loop over the steps of an LSTM, GRU or simple recurrent layer becomes one op for the "
        "sequence, or one for each of its stacked cells; lengths of sequences, as of dynamic_rnn, "
        "become its mask",
    .phase = Phase::kFuse,
    .anchors = "While|StatelessWhile",
    .apply = FuseLoop,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
