// Decoders of segmentation and detection networks enlarge images, join them with others along the
// channels and mix these by a 1x1 convolution. That is a sum of convolutions of the parts, and
// enlarging by fixed weights commutes with it, so the convolutions of small images come first:
//   conv(concat(resize(a), b), w) = conv(b, w_b) + resize(conv(a, w_a))
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/contraction.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Channels of a part for which the products saved take longer than adding the enlarged result does,
// if that has more channels than the part.
constexpr int64_t kManyChannels = 64;

// Images that the convolution reads, and the channels of its filter that belong to them.
struct JoinedPart {
  Endpoint images;
  int64_t begin = 0, end = 0;
  NodeId resize = kNoNode;  // if it is worth moving
};

// op names: those that compute each pixel as a sum of the input's, by weights that the sizes give
bool IsResize(const Node& n) { return n.op == "ResizeBilinear" || n.op == "ResizeNearestNeighbor"; }

// Whether `images` are made by a resize that is worth moving behind the convolution.
bool IsWorthMoving(RuleContext& context, const JoinedPart& part, NodeId reader, int64_t outputs) {
  if (part.images.port != 0) return false;
  const Node& resize = context.Candidate(part.images);
  if (!IsResize(resize) || context.OnlyReader(resize.id) != reader) return false;
  const Endpoint from = resize.inputs[0];
  const Shape &in = context.shapes.shape(from), &out = context.shapes.shape(part.images);
  if (context.shapes.dtype(from) != DType::kFloat || in.rank() != 4 || out.rank() != 4) {
    return false;
  }
  for (int i = 1; i < 3; ++i) {
    if (in.dim(i) < 1 || out.dim(i) < in.dim(i)) return false;
  }
  const int64_t channels = part.end - part.begin;
  return out.dim(1) * out.dim(2) >= 2 * in.dim(1) * in.dim(2) &&
         (outputs <= channels || channels >= kManyChannels);
}

// The images side by side along the channels, whose numbers are known.
absl::StatusOr<std::vector<JoinedPart>> ReadParts(RuleContext& context, const Node& conv) {
  std::vector<Endpoint> sources = {conv.inputs[0]};
  const Node& concat = context.Candidate(conv.inputs[0]);
  NodeId reader = conv.id;
  if (concat.op == "ConcatV2") {
    if (!IsLast(context, concat.inputs.back(), 4)) {
      return WhyNot("its images are not joined along the channels");
    }
    if (!context.HasOnlyReader(concat.id, conv.id)) return WhyNot("the joined images are read");
    sources.assign(concat.inputs.begin(), concat.inputs.end() - 1);
    reader = concat.id;
  }
  const Shape filter = context.Constant(conv.inputs[1])->shape();
  std::vector<JoinedPart> parts;
  int64_t at = 0;
  for (const Endpoint& e : sources) {
    const Shape& shape = context.shapes.shape(e);
    if (shape.rank() != 4 || shape.dim(3) < 0) return WhyNot("the channels are not known");
    // The sum would broadcast images that ConcatV2 refuses.
    if (!context.shapes.SameShapeButLast(e, sources[0], shape.dim(3))) {
      return WhyNot("the images may have different shapes");
    }
    JoinedPart part{e, at, at + shape.dim(3)};
    if (IsWorthMoving(context, part, reader, filter[3])) part.resize = e.node;
    at = part.end;
    parts.push_back(part);
  }
  if (at != filter[2]) return WhyNot("it has groups");
  return parts;
}

// The rows of a filter [1, 1, I, O] that belong to the parts.
absl::StatusOr<Tensor> FilterOf(const Tensor& filter, const std::vector<JoinedPart>& parts) {
  int64_t channels = 0;
  for (const JoinedPart& part : parts) channels += part.end - part.begin;
  const int64_t outputs = filter.shape()[3];
  TENON_ASSIGN_OR_RETURN(Tensor result,
                         Tensor::Allocate(DType::kFloat, Shape({1, 1, channels, outputs})));
  float* to = result.data<float>();
  for (const JoinedPart& part : parts) {
    to = std::copy_n(filter.data<float>() + part.begin * outputs, (part.end - part.begin) * outputs,
                     to);
  }
  return result;
}

// Adds the convolution of the parts, side by side.
absl::StatusOr<Endpoint> Convolve(RuleContext& context, Node conv, const Node& concat,
                                  const std::vector<JoinedPart>& parts) {
  TENON_ASSIGN_OR_RETURN(Tensor filter, FilterOf(*context.Constant(conv.inputs[1]), parts));
  if (parts.size() == 1) {
    conv.inputs[0] = parts[0].images;
  } else {
    Node joined = concat;
    joined.inputs.clear();
    for (const JoinedPart& part : parts) joined.inputs.push_back(part.images);
    joined.inputs.push_back(concat.inputs.back());
    joined.attrs["N"] = static_cast<int64_t>(parts.size());
    TENON_ASSIGN_OR_RETURN(const NodeId id, context.AddNode(std::move(joined)));
    conv.inputs[0] = {id, 0};
  }
  conv.inputs[1] = {context.AddConst(absl::StrCat(conv.name, "/filter"), std::move(filter)), 0};
  TENON_ASSIGN_OR_RETURN(const NodeId id, context.AddNode(std::move(conv)));
  return Endpoint{id, 0};
}

absl::StatusOr<Endpoint> Sum(RuleContext& context, const std::string& name, Endpoint a,
                             Endpoint b) {
  Node sum;
  sum.name = name;
  sum.op = "AddV2";
  sum.attrs["T"] = DType::kFloat;
  sum.inputs = {a, b};
  TENON_ASSIGN_OR_RETURN(const NodeId id, context.AddNode(std::move(sum)));
  return Endpoint{id, 0};
}

// conv(concat(...)) as a sum of what `moved` and `rest` give.
absl::StatusOr<Endpoint> Split(RuleContext& context, const Node& conv, const Node& concat,
                               const std::vector<JoinedPart>& moved,
                               const std::vector<JoinedPart>& rest) {
  Endpoint sum{kNoNode, 0};
  const auto add = [&](Endpoint e) -> absl::Status {
    if (sum.node == kNoNode) {
      sum = e;
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(sum, Sum(context, conv.name, sum, e));
    return absl::OkStatus();
  };
  for (const JoinedPart& part : moved) {
    Node resize = context.node(part.resize);
    JoinedPart small = part;
    small.images = resize.inputs[0];
    TENON_ASSIGN_OR_RETURN(resize.inputs[0], Convolve(context, conv, concat, {small}));
    TENON_ASSIGN_OR_RETURN(const NodeId id, context.AddNode(std::move(resize)));
    TENON_RETURN_IF_ERROR(add({id, 0}));
  }
  if (rest.empty()) return sum;
  TENON_ASSIGN_OR_RETURN(const Endpoint own, Convolve(context, conv, concat, rest));
  return Sum(context, conv.name, own, sum);
}

Outcome PointwiseFirst(RuleContext& context, NodeId id) {
  const Node conv = context.node(id);  // copies: adding nodes moves the others
  const Node concat = context.node(conv.inputs[0]);
  if (concat.op != "ConcatV2" && !IsResize(concat)) return Outcome::NotMine();
  if (const absl::Status s = IsPointwise(context, conv); !s.ok()) {
    return Outcome::Skip(1, std::string(s.message()), id);
  }
  const auto parts = ReadParts(context, conv);
  if (!parts.ok()) return Outcome::Skip(2, std::string(parts.status().message()), id);
  std::vector<JoinedPart> moved, rest;
  for (const JoinedPart& part : *parts) {
    (part.resize != kNoNode ? moved : rest).push_back(part);
  }
  if (moved.empty()) return Outcome::Skip(2, "no part is enlarged", id);
  const auto result = Split(context, conv, concat, moved, rest);
  if (!result.ok()) return Outcome::Skip(3, std::string(result.status().message()), id);
  context.rw.ReplaceNode(id, *result);
  context.RemoveIfDead(concat.id);
  return Outcome::Fired();
}

const RuleRegistration pointwise({
    .name = "PointwiseBeforeResize",
    .doc = "a 1x1 convolution of enlarged images is computed before they are enlarged",
    .phase = Phase::kFold,
    .dtypes = "float",
    .anchors = "Conv2D",
    .apply = PointwiseFirst,
    .after = "FoldAffine",
    .last = true,
});

}  // namespace
}  // namespace tenon
