#include "runtime/quantize/equalize.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/quantized.h"
#include "kernels/interface/axis.h"
#include "ops/op.h"

namespace tenon {
namespace {

using quantized::AttrOr;

bool IsPool(const Node& n) {
  return FactsOf(n.op).on_integers == OnIntegers::kPools && quantized::PoolsPixels(n);
}
bool IsAdd(const Node& n) { return FactsOf(n.op).on_integers == OnIntegers::kAdds; }
bool ChannelsLast(const Node& n) { return AttrOr<std::string>(n, "data_format", "NHWC") == "NHWC"; }

// Grows a link, starting at one tensor.
class Search {
 public:
  Search(RuleContext& context, Endpoint start) : context_(context) {
    const Shape& shape = context.shapes.shape(start);
    if (!shape.has_rank() || shape.rank() < 2 || shape[shape.rank() - 1] < 2) return;
    link_.channels = shape[shape.rank() - 1];
    possible_ = true;
    Join(start);
    for (size_t i = 0; possible_ && i < tensors_.size(); ++i) {
      possible_ = Makes(tensors_[i]) && Reads(tensors_[i]);
    }
  }

  bool possible() const { return possible_ && !link_.multiplied.empty(); }
  Link& link() { return link_; }
  const std::vector<Endpoint>& tensors() const { return tensors_; }

 private:
  void Join(Endpoint e) {
    if (known_.insert(e).second) tensors_.push_back(e);
  }

  // Whether it is a constant with one element per channel, alone or after dimensions of 1.
  bool IsVector(Endpoint e) const {
    const Tensor* t = context_.Constant(e);
    return t != nullptr && t->dtype() == DType::kFloat && t->shape().rank() > 0 &&
           t->num_elements() == link_.channels &&
           t->shape()[t->shape().rank() - 1] == link_.channels;
  }

  // The channel axis of a contraction's constant weights, or -1.
  int WeightsAxis(const Node& n, bool out) const {
    if (FactsOf(n.op).on_integers != OnIntegers::kContraction) return -1;
    const bool depthwise = n.op == "DepthwiseConv2dNative", matmul = n.op == "MatMul";
    const Tensor* w = context_.Constant(n.inputs[1]);
    if (w == nullptr || w->dtype() != DType::kFloat || !ChannelsLast(n)) return -1;
    if (w->shape().rank() != (matmul ? 2 : 4) || AttrOr(n, "transpose_a", false)) return -1;
    if (depthwise && w->shape()[3] != 1) return -1;
    const bool transposed = AttrOr(n, "transpose_b", false);
    const int axis = depthwise ? 2 : matmul ? (out == transposed ? 0 : 1) : out ? 3 : 2;
    return w->shape()[axis] == link_.channels ? axis : -1;
  }

  // Whether the tensor's producer can be divided, or passes the factors on.
  bool Makes(Endpoint e) {
    const NodeId id = e.node;
    const Node& n = context_.node(id);
    if (e.port != 0 || !n.control_inputs.empty() || context_.rw.IsOutput(e) ||
        context_.shapes.dtype(e) != DType::kFloat) {
      return false;
    }
    if (const int axis = WeightsAxis(n, /*out=*/true); axis >= 0) {
      link_.divided.push_back({id, 1, axis});
      return true;
    }
    if (n.op == "Relu" || IsZeroPad(context_, e) || IsPool(n)) {
      Join(n.inputs[0]);
      return true;
    }
    if (n.op == "BiasAdd" || IsAdd(n)) {
      for (int slot : {0, 1}) {
        const Endpoint other = n.inputs[static_cast<size_t>(slot)];
        if (IsVector(other)) {
          if (n.op == "BiasAdd" && !ChannelsLast(n)) return false;
          const int axis = context_.Constant(other)->shape().rank() - 1;
          link_.divided.push_back({id, slot, axis});
        } else if (n.op == "BiasAdd" ? slot == 0 : context_.shapes.SameShape(other, e)) {
          if (context_.Constant(other) != nullptr) return false;
          Join(other);
        } else {
          return false;
        }
      }
      return true;
    }
    return n.op == "Mul" && MakesProduct(id, n);
  }

  bool MakesProduct(NodeId id, const Node& n) {
    for (int slot : {0, 1}) {
      const Endpoint other = n.inputs[static_cast<size_t>(slot)];
      if (IsVector(other)) {
        link_.divided.push_back({id, slot, context_.Constant(other)->shape().rank() - 1});
        return true;
      }
    }
    for (int slot : {1, 0}) {
      const Shape& s = context_.shapes.shape(n.inputs[static_cast<size_t>(slot)]);
      if (s.has_rank() && s.rank() == 4 && s[1] == 1 && s[2] == 1 && s[3] == link_.channels) {
        link_.divided.push_back({id, slot, -1});
        return true;
      }
    }
    return false;
  }

  // Whether all readers can be multiplied, or pass the factors on.
  bool Reads(Endpoint e) {
    for (const Use& use : context_.rw.uses(e.node)) {
      if (use.is_control() || use.port != 0) return false;
      const Node& n = context_.node(use.reader);
      const int axis = use.slot == 0 ? WeightsAxis(n, /*out=*/false) : -1;
      if (axis >= 0) {
        link_.multiplied.push_back({use.reader, 1, axis});
        if (link_.seen.empty() || link_.seen.back() != e) link_.seen.push_back(e);
      } else if (n.op == "Relu" || IsAdd(n) || (n.op == "BiasAdd" && use.slot == 0) || IsPool(n) ||
                 (use.slot == 0 && IsZeroPad(context_, {use.reader, 0}))) {
        Join({use.reader, 0});
      } else {
        return false;
      }
    }
    return true;
  }

  RuleContext& context_;
  bool possible_ = false;
  Link link_;
  std::vector<Endpoint> tensors_;
  HashSet<Endpoint> known_;
};

// Multiplies each slice of a place's constant, along its axis, by factors[i].
absl::Status Scale(RuleContext& context, const Link::Place& place,
                   const std::vector<float>& factors) {
  const Endpoint old = context.node(place.node).inputs[static_cast<size_t>(place.slot)];
  const std::string name = context.node(place.node).name;
  if (place.axis < 0) {
    Node gate;
    gate.name = absl::StrCat(name, "/gate");
    gate.op = "Mul";
    gate.inputs = {old,
                   {context.AddConst(absl::StrCat(name, "/factors"), Tensor::Vector(factors)), 0}};
    gate.attrs["T"] = DType::kFloat;
    TENON_ASSIGN_OR_RETURN(const NodeId scaled, context.AddNode(std::move(gate)));
    context.rw.SetInput(place.node, place.slot, {scaled, 0});
    return absl::OkStatus();
  }
  const Tensor before = *context.Constant(old);
  const Shape& shape = before.shape();
  const int64_t inner = Product(shape, place.axis + 1, shape.rank());
  TENON_ASSIGN_OR_RETURN(Tensor after, Tensor::Allocate(DType::kFloat, shape));
  for (int64_t i = 0; i < before.num_elements(); ++i) {
    const auto c = static_cast<size_t>(i / inner % shape[place.axis]);
    after.data<float>()[i] = before.data<float>()[i] * factors[c];
  }
  const NodeId constant = context.AddConst(absl::StrCat(name, "/equalized"), std::move(after));
  context.rw.SetInput(place.node, place.slot, {constant, 0});
  context.RemoveIfDead(old.node);
  return absl::OkStatus();
}

// The weights of a reader, per channel.
struct Reader {
  std::vector<double> squares;  // sums over all weights of the channel
  int64_t outputs = 1;
  std::vector<float> largest;  // [outputs, channels]; empty for depthwise weights
};

Reader ReadWeights(RuleContext& context, const Link& link, const Link::Place& place) {
  const Node& n = context.node(place.node);
  const Tensor& w = *context.Constant(n.inputs[1]);
  const Shape& shape = w.shape();
  const bool depthwise = n.op == "DepthwiseConv2dNative";
  const int out_axis = place.axis == shape.rank() - 1 ? 0 : shape.rank() - 1;
  const auto channels = static_cast<size_t>(link.channels);
  Reader r;
  r.squares.assign(channels, 0.0);
  if (!depthwise) {
    r.outputs = shape[out_axis];
    r.largest.assign(static_cast<size_t>(r.outputs) * channels, 0.0f);
  }
  const int64_t inner = Product(shape, place.axis + 1, shape.rank());
  const int64_t matrix = link.channels * r.outputs;
  for (int64_t i = 0; i < w.num_elements(); ++i) {
    const auto c = static_cast<size_t>(i / inner % link.channels);
    const float v = w.data<float>()[i];
    r.squares[c] += static_cast<double>(v) * v;
    if (depthwise) continue;
    const int64_t out = out_axis == 0 ? i % matrix / link.channels : i % r.outputs;
    float& top = r.largest[static_cast<size_t>(out) * channels + c];
    top = std::max(top, std::fabs(v));
  }
  return r;
}

// The square of the readers' expected relative error, with rounding as uniform noise: one scale for
// the data, and one per output for the weights.
double ExpectedError(const std::vector<Reader>& readers, const ChannelSizes& sizes,
                     const std::vector<float>& factors) {
  const size_t channels = factors.size();
  double top = 0, power = 0;
  std::vector<double> squares(channels);
  for (size_t c = 0; c < channels; ++c) {
    top = std::max<double>(top, sizes.largest[c] / factors[c]);
    squares[c] = sizes.squares[c] / static_cast<double>(std::max<int64_t>(sizes.rows, 1));
    power += squares[c] / factors[c] / factors[c];
  }
  const double data_noise = top * top / (255.0 * 255.0 * 12),
               weights_noise = 1 / (127.0 * 127.0 * 12);
  double total = 0;
  for (const Reader& r : readers) {
    double signal = 0, noise = 0;
    for (size_t c = 0; c < channels; ++c) {
      signal += squares[c] * r.squares[c];
      noise += data_noise * r.squares[c] * factors[c] * factors[c];
    }
    for (size_t o = 0; o * channels < r.largest.size(); ++o) {
      double widest = 0;
      for (size_t c = 0; c < channels; ++c) {
        widest = std::max<double>(widest, r.largest[o * channels + c] * factors[c]);
      }
      noise += weights_noise * widest * widest * power;
    }
    if (signal > 0) total += noise / signal;
  }
  return total;
}

// The readers' weights of each channel (root of the sum of squares), relative to the largest.
std::vector<float> WeightShares(const std::vector<Reader>& readers, size_t channels) {
  std::vector<float> shares(channels, 0.0f);
  for (const Reader& r : readers) {
    const double top = *std::max_element(r.squares.begin(), r.squares.end());
    if (!(top > 0)) continue;
    for (size_t c = 0; c < channels; ++c) {
      shares[c] = std::max(shares[c], static_cast<float>(std::sqrt(r.squares[c] / top)));
    }
  }
  return shares;
}

// Half of the way, on a logarithmic scale, from weights of similar ranges to data of similar
// ranges: sqrt(largest / shares), normalized to a mean factor of 1; 1 for channels without data or
// weights.
std::vector<float> FactorsOf(const ChannelSizes& sizes, const std::vector<float>& shares) {
  constexpr float kMost = 6;  // a factor is between 2^-6 and 2^6 times the mean
  std::vector<float> logs(shares.size(), 0.0f), factors(shares.size(), 1.0f);
  const auto used = [&](size_t c) {
    return sizes.largest[c] > 0 && std::isfinite(sizes.largest[c]) && shares[c] > 0;
  };
  float sum = 0, count = 0;
  for (size_t c = 0; c < logs.size(); ++c) {
    if (!used(c)) continue;
    logs[c] = (std::log2(sizes.largest[c]) - std::log2(shares[c])) / 2;
    sum += logs[c];
    ++count;
  }
  for (size_t c = 0; c < logs.size(); ++c) {
    if (used(c)) factors[c] = std::exp2(std::clamp(logs[c] - sum / count, -kMost, kMost));
  }
  return factors;
}

}  // namespace

std::vector<Link> FindLinks(RuleContext& context, const std::vector<Layer>& layers) {
  std::vector<Link> links;
  HashSet<Endpoint> done;
  for (const Layer& layer : layers) {
    if (!layer.kept.empty() || done.contains(layer.data)) continue;
    Search search(context, layer.data);
    done.insert(search.tensors().begin(), search.tensors().end());
    if (search.possible()) links.push_back(std::move(search.link()));
  }
  return links;
}

void ChannelSizes::Add(const Tensor& values) {
  const float* x = values.data<float>();
  const auto channels = static_cast<int64_t>(largest.size());
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const auto c = static_cast<size_t>(i % channels);
    largest[c] = std::max(largest[c], std::fabs(x[i]));
    squares[c] += static_cast<double>(x[i]) * x[i];
  }
  rows += values.num_elements() / channels;
}

absl::Status Equalize(RuleContext& context, const Link& link, const ChannelSizes& sizes) {
  std::vector<Reader> readers;
  for (const Link::Place& place : link.multiplied) {
    readers.push_back(ReadWeights(context, link, place));
  }
  const std::vector<float> shares = WeightShares(readers, sizes.largest.size());
  const std::vector<float> none(shares.size(), 1.0f), factors = FactorsOf(sizes, shares);
  if (!(ExpectedError(readers, sizes, factors) < ExpectedError(readers, sizes, none))) {
    return absl::OkStatus();
  }
  std::vector<float> inverse;
  for (float f : factors) inverse.push_back(1 / f);
  for (const Link::Place& place : link.multiplied) {
    TENON_RETURN_IF_ERROR(Scale(context, place, factors));
  }
  for (const Link::Place& place : link.divided) {
    TENON_RETURN_IF_ERROR(Scale(context, place, inverse));
  }
  return absl::OkStatus();
}

}  // namespace tenon
