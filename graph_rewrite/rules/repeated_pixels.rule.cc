// Images enlarged by repeating each pixel, as Keras's UpSampling2D and the Object Detection API
// write it: a new axis behind rows or columns, along which everything is repeated, is merged into
// them. Both are one resize to the nearest pixel, which other rules know.
//   Reshape(Tile(ExpandDims(Reshape(Tile(ExpandDims(x, 2), [1, 1, f, 1, 1])), 3), ...))
//   Reshape(Pack(Pack(x, x; axis=3), Pack(x, x; axis=3); axis=2))
//     = ResizeNearestNeighbor(x, [f * height, g * width])
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Above this, the positions of pixels, which are floats, might be rounded to a neighbor.
constexpr int64_t kMostPixels = int64_t{1} << 20;

// A tensor with one more axis than `from`, along which everything is repeated.
struct RepeatedAxis {
  Endpoint from;
  int axis = 0;
  int64_t times = 0;
};

struct RepeatedPixels {
  Endpoint images;
  int64_t rows = 1, columns = 1;  // how often each is repeated
};

// op names: a Pack of one tensor only
bool ReadPack(RuleContext& context, Endpoint e, RepeatedAxis* repeated) {
  const Node& pack = context.Candidate(e);
  if (pack.op != "Pack") return false;
  const Endpoint from = pack.inputs[0];
  for (const Endpoint& other : pack.inputs) {
    if (other != from) return false;
  }
  const int64_t* axis = pack.attr<int64_t>("axis");
  const int64_t rank = context.shapes.rank(e);
  if (axis == nullptr || rank < 0) return false;
  *repeated = {from, static_cast<int>(*axis < 0 ? *axis + rank : *axis),
               static_cast<int64_t>(pack.inputs.size())};
  return true;
}

// op names: a Tile along the axis that ExpandDims has added
bool ReadTile(RuleContext& context, Endpoint e, RepeatedAxis* repeated) {
  const Node& tile = context.Candidate(e);
  if (tile.op != "Tile") return false;
  const Node& expand = context.Candidate(tile.inputs[0]);
  const int rank = context.shapes.rank(tile.inputs[0]);
  if (expand.op != "ExpandDims" || rank < 0) return false;
  const std::vector<int64_t> times = ConstantIntegers(context, tile.inputs[1]);
  const std::vector<int64_t> axis = ConstantIntegers(context, expand.inputs[1]);
  if (static_cast<int>(times.size()) != rank || axis.size() != 1) return false;
  const auto at = static_cast<size_t>(axis[0] < 0 ? axis[0] + rank : axis[0]);
  for (size_t i = 0; i < times.size(); ++i) {
    if (i != at && times[i] != 1) return false;
  }
  if (at >= times.size() || times[at] < 1) return false;
  *repeated = {expand.inputs[0], static_cast<int>(at), times[at]};
  return true;
}

bool ReadRepeatedAxis(RuleContext& context, Endpoint e, RepeatedAxis* repeated) {
  return ReadTile(context, e, repeated) || ReadPack(context, e, repeated);
}

// Reads a Reshape that merges one or two repeated axes into rows and columns. `pixels->images`
// becomes what it enlarges.
bool ReadReshape(RuleContext& context, RepeatedPixels* pixels) {
  const Endpoint whole = pixels->images;
  const Node& reshape = context.Candidate(whole);
  if (reshape.op != "Reshape") return false;
  RepeatedAxis outer;
  if (!ReadRepeatedAxis(context, reshape.inputs[0], &outer)) return false;
  std::vector<RepeatedAxis> axes = {outer};
  RepeatedAxis inner;
  if (ReadRepeatedAxis(context, outer.from, &inner)) axes.push_back(inner);
  int64_t times[4] = {1, 1, 1, 1};
  for (size_t i = 0; i < axes.size(); ++i) {
    // The outer axis counts the inner one if it comes after that.
    const bool counts = i + 1 < axes.size() && axes[i].axis > axes[i + 1].axis;
    const int of = axes[i].axis - (counts ? 2 : 1);
    if (of != 1 && of != 2) return false;
    times[of] *= axes[i].times;
  }
  const Endpoint images = axes.back().from;
  if (!context.shapes.Accepts(reshape.id)) return false;
  if (!context.shapes.IsMultiple(whole, images, times)) return false;
  pixels->images = images;
  pixels->rows *= times[1];
  pixels->columns *= times[2];
  return true;
}

Outcome RepeatedPixelsAsResize(RuleContext& context, NodeId id) {
  RepeatedPixels pixels{{id, 0}};
  if (!ReadReshape(context, &pixels)) return Outcome::NotMine();
  ReadReshape(context, &pixels);  // the other axis, which may have a Reshape of its own
  // Repeated along one axis only, they may be the heads of grouped attention.
  if (pixels.rows == 1 || pixels.columns == 1) {
    return Outcome::Skip(1, "only rows or only columns are repeated", id);
  }
  const Shape small = context.shapes.shape(pixels.images);
  // A resize refuses images without pixels.
  if (small.dim(1) < 1 || small.dim(2) < 1) {
    return Outcome::Skip(2, "height and width are not known", id);
  }
  const int64_t height = small.dim(1) * pixels.rows, width = small.dim(2) * pixels.columns;
  if (std::max(height, width) > kMostPixels) return Outcome::Skip(2, "the images are huge", id);
  const Node reshape = context.node(id);  // a copy: adding nodes moves the others
  Node resize;
  resize.name = reshape.name;
  resize.op = "ResizeNearestNeighbor";
  resize.device = reshape.device;
  resize.attrs["T"] = context.shapes.dtype(pixels.images);
  resize.attrs["half_pixel_centers"] = true;
  const NodeId size = context.AddConst(
      absl::StrCat(reshape.name, "/size"),
      Tensor::Vector<int32_t>({static_cast<int32_t>(height), static_cast<int32_t>(width)}));
  resize.inputs = {pixels.images, {size, 0}};
  const auto made = context.AddNode(std::move(resize));
  if (!made.ok()) return Outcome::Skip(3, std::string(made.status().message()), id);
  context.rw.ReplaceNode(id, {*made, 0});
  context.RemoveIfDead(reshape.inputs[0].node);
  return Outcome::Fired();
}

const RuleRegistration repeated_pixels({
    .name = "RepeatedPixels",
    .doc = "images whose pixels are repeated (Keras's UpSampling2D) are a resize to the nearest "
           "pixel",
    .phase = Phase::kFold,
    .dtypes = "int8 uint8 int16 uint16 int32 int64 half bfloat16 float double",
    .anchors = "Reshape",
    .apply = RepeatedPixelsAsResize,
});

}  // namespace
}  // namespace tenon
