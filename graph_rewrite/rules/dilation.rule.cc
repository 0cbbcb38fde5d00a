// TensorFlow's libraries spell a dilated convolution as SpaceToBatchND, a dense convolution and
// BatchToSpaceND: the blocks are the rates of dilation.
//
// With p the padded size, a multiple of the block r: each of r phases, every r-th element, is
// convolved by itself, which gives p/r - k + 1 results, and these are interleaved again. Result i
// is the sum over j of w[j] * padded[i + r * j], as in a convolution of dilation r. Crops remove
// results at the ends, as less padding would. Sizes need not be known: for them the libraries pad
// up to the next multiple of the block, and crop as much again.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/integer_sum.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Of one blocked dimension: the elements added around it, less those that are cropped.
struct Dilation {
  int64_t rate = 1, before = 0, after = 0;
};

// The number of elements before (`side` 0) or after dimension `i` that a blocking node pads or
// crops: its input 2 has a row for each dimension.
std::optional<IntegerSum> Margin(RuleContext& context, const Node& n, size_t i, size_t side) {
  return ElementSum(context, n.inputs[2], static_cast<int64_t>(2 * i + side));
}

// What `pads` exceed `crops` by, if that is the same number for all sizes.
std::optional<int64_t> Excess(const IntegerSum& pads, const IntegerSum& crops) {
  IntegerSum rest = pads;
  if (!rest.Add(crops, -1) || !rest.terms.empty()) return std::nullopt;
  return rest.constant;
}

// Whether it is a dense convolution of images with the channels last.
absl::Status IsDense(const Node& conv) {
  const std::string* format = conv.attr<std::string>("data_format");
  const std::string* padding = conv.attr<std::string>("padding");
  if (format == nullptr || (*format != "NHWC" && *format != "NDHWC")) {
    return WhyNot("its channels are not last");
  }
  if (padding == nullptr || *padding != "VALID") return WhyNot("the convolution pads too");
  for (const char* name : {"strides", "dilations"}) {
    const auto* steps = conv.attr<std::vector<int64_t>>(name);
    if (steps == nullptr || steps->size() != format->size()) return WhyNot("its steps are unknown");
    for (int64_t step : *steps) {
      if (step != 1) return WhyNot(absl::StrCat("it has other ", name, " than 1"));
    }
  }
  return absl::OkStatus();
}

// `x` is what SpaceToBatchND reads.
absl::StatusOr<std::vector<Dilation>> ReadDilations(RuleContext& context, const Node& to_batch,
                                                    const Node& to_space, const Shape& x) {
  if (to_batch.inputs.size() != 3 || to_space.inputs.size() != 3) {
    return WhyNot("inputs are missing");
  }
  const std::vector<int64_t> blocks = ConstantIntegers(context, to_batch.inputs[1]);
  if (blocks.empty()) return WhyNot("the blocks are not constant");
  if (blocks != ConstantIntegers(context, to_space.inputs[1])) {
    return WhyNot("it puts together other blocks than were taken apart");
  }
  if (!x.has_rank() || static_cast<size_t>(x.rank()) < blocks.size() + 1) {
    return WhyNot("its rank is unknown");
  }
  for (const Node* n : {&to_batch, &to_space}) {
    if (context.shapes.shape(n->inputs[2]) != Shape({static_cast<int64_t>(blocks.size()), 2})) {
      return WhyNot("paddings and blocks are of different lengths");
    }
  }
  std::vector<Dilation> dilations;
  for (size_t i = 0; i < blocks.size(); ++i) {
    Dilation d{blocks[i]};
    IntegerSum padded = SizeSum(context, to_batch.inputs[0], static_cast<int>(i) + 1);
    for (size_t side : {0, 1}) {
      const auto pads = Margin(context, to_batch, i, side),
                 crops = Margin(context, to_space, i, side);
      if (!pads.has_value() || !crops.has_value() || !padded.Add(*pads, 1)) {
        return WhyNot("paddings or crops are not known");
      }
      if (d.rate < 1 || !IsNotNegative(context, *pads) || !IsNotNegative(context, *crops)) {
        return WhyNot("a block, padding or crop is, or may be, negative");
      }
      const auto excess = Excess(*pads, *crops);
      if (!excess.has_value()) return WhyNot("what it pads beyond the crops depends on the data");
      if (*excess < 0) return WhyNot("it crops more than was padded");
      (side == 0 ? d.before : d.after) = *excess;
    }
    if (!IsMultipleOf(context, padded, d.rate)) {
      return WhyNot("the padded size is not known to be a multiple of the block");
    }
    dilations.push_back(d);
  }
  return dilations;
}

// A zero Pad of the blocked dimensions before SpaceToBatchND, as causal convolutions have. Its
// widths are added to `dilations`; false if there is none.
bool AbsorbPad(RuleContext& context, const Node& pad, std::vector<Dilation>& dilations) {
  if (pad.op != "Pad" || pad.inputs.size() != 2) return false;
  const Tensor* t = context.Constant(pad.inputs[1]);
  const Shape& x = context.shapes.shape(pad.inputs[0]);
  if (t == nullptr || !x.has_rank()) return false;
  const auto values = IntegerValues(*t);
  if (!values.ok() || values->size() != 2 * static_cast<size_t>(x.rank())) return false;
  for (size_t i = 0; i < values->size(); ++i) {
    const size_t axis = i / 2;
    const bool blocked = axis >= 1 && axis <= dilations.size();
    if ((*values)[i] < 0 || ((*values)[i] > 0 && !blocked)) return false;
  }
  for (size_t i = 0; i < dilations.size(); ++i) {
    dilations[i].before += (*values)[2 * i + 2];
    dilations[i].after += (*values)[2 * i + 3];
  }
  return true;
}

// The axis that ExpandDims adds, which must be 1 and be removed by Squeeze: a convolution of rows.
bool IsRow(RuleContext& context, const Node& expand, const Node& squeeze) {
  if (expand.op != "ExpandDims" || expand.inputs.size() != 2) return false;
  const Tensor* t = context.Constant(expand.inputs[1]);
  const auto* axes = squeeze.attr<std::vector<int64_t>>("squeeze_dims");
  if (t == nullptr || axes == nullptr || axes->size() != 1) return false;
  const auto axis = IntegerValues(*t);
  if (!axis.ok() || axis->size() != 1 || context.shapes.shape(expand.inputs[0]).rank() != 3) {
    return false;
  }
  return ((*axis)[0] == 1 || (*axis)[0] == -3) && ((*axes)[0] == 1 || (*axes)[0] == -3);
}

// `first`: the dimension of the convolution that the first block belongs to.
void SetDilations(Node& conv, absl::Span<const Dilation> dilations, size_t first) {
  const size_t rank = conv.attr<std::vector<int64_t>>("strides")->size();
  std::vector<int64_t> rates(rank, 1), pads(2 * rank, 0);
  for (size_t i = 0; i < dilations.size(); ++i) {
    rates[first + i] = dilations[i].rate;
    pads[2 * (first + i)] = dilations[i].before;
    pads[2 * (first + i) + 1] = dilations[i].after;
  }
  conv.attrs["dilations"] = std::move(rates);
  conv.attrs["padding"] = std::string("EXPLICIT");
  conv.attrs["explicit_paddings"] = std::move(pads);
}

Outcome Dilate(RuleContext& context, NodeId id) {
  const Node& to_space = context.node(id);
  if (to_space.inputs.empty() || to_space.inputs[0].port != 0) return Outcome::NotMine();
  const Node& squeeze = context.Candidate(to_space.inputs[0]);
  const bool row = squeeze.op == "Squeeze";
  const Node& conv = row ? context.Candidate(squeeze.inputs[0]) : squeeze;
  // op names: those with dilations that TensorFlow's libraries put between the two
  if (conv.op != "Conv2D" && conv.op != "DepthwiseConv2dNative" && conv.op != "Conv3D") {
    return Outcome::NotMine();
  }
  const Node& expand = context.Candidate(conv.inputs[0]);
  if (row && (conv.op == "Conv3D" || !IsRow(context, expand, squeeze))) return Outcome::NotMine();
  const Node& to_batch = row ? context.Candidate(expand.inputs[0]) : expand;
  if (to_batch.op != "SpaceToBatchND") return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(3, absl::StrCat("'", conv.name, "' (", conv.op, "): ", reason), conv.id);
  };
  if (absl::Status dense = IsDense(conv); !dense.ok()) return skip(dense.message());
  Endpoint x = to_batch.inputs[0];
  auto dilations = ReadDilations(context, to_batch, to_space, context.shapes.shape(x));
  if (!dilations.ok()) return skip(dilations.status().message());
  const size_t spatial = row ? 1 : conv.attr<std::vector<int64_t>>("strides")->size() - 2;
  if (dilations->size() > spatial) return skip("the channels are in blocks, too");
  if (!context.HasOnlyReader(conv.id, row ? squeeze.id : id)) return Outcome::NotMine();
  if (row && !context.HasOnlyReader(squeeze.id, id)) return Outcome::NotMine();
  if (x.port == 0) {
    const Node& pad = context.Candidate(x);
    if (AbsorbPad(context, pad, *dilations)) x = pad.inputs[0];
  }

  const NodeId old = to_space.inputs[0].node;
  const std::string name = to_space.name;
  Node dilated = conv, after = squeeze;  // copies: adding nodes moves the others
  if (row) {
    Node before = expand;
    before.inputs[0] = x;
    auto added = context.AddNode(std::move(before));
    if (!added.ok()) return Outcome::Skip(3, std::string(added.status().message()), id);
    x = {*added, 0};
  }
  SetDilations(dilated, *dilations, row ? 2 : 1);
  dilated.inputs[0] = x;
  if (!row) dilated.name = name;
  auto result = context.AddNode(std::move(dilated));
  if (result.ok() && row) {
    after.inputs[0] = {*result, 0};
    after.name = name;
    result = context.AddNode(std::move(after));
  }
  if (!result.ok()) return Outcome::Skip(3, std::string(result.status().message()), id);
  context.rw.ReplaceNode(id, {*result, 0});
  context.RemoveIfDead(old);
  return Outcome::Fired();
}

const RuleRegistration dilation({
    .name = "DilatedConvolution",
    .doc = "a convolution between SpaceToBatchND and BatchToSpaceND becomes a dilated one",
    .phase = Phase::kFold,
    .dtypes = "float bfloat16",
    .anchors = "BatchToSpaceND",
    .apply = Dilate,
});

}  // namespace
}  // namespace tenon
