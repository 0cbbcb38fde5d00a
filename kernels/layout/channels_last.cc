#include "kernels/layout/channels_last.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/layout/transpose_simd.h"

namespace tenon {
namespace {

// [N, C, spatial...] to [N, spatial..., C]; `per` elements per dimension.
template <typename V>
V ToLast(const V& v, int per) {
  V out(v);
  std::rotate(out.begin() + per, out.begin() + 2 * per, out.end());
  return out;
}

Shape ToLast(const Shape& s) {
  const std::vector<int64_t> dims(s.dims().begin(), s.dims().end());
  return Shape(ToLast(dims, 1));
}

// One tensor to transpose: `images` planes of channels x positions.
struct Transposed {
  int input = -1;  // -1: the output
  int64_t images = 0, channels = 0, positions = 0;
  size_t offset = 0;  // of the transposed form, in scratch

  Transposed(int i, const Shape& s, size_t at)
      : input(i), images(s[0]), channels(s[1]), positions(1), offset(at) {
    for (int d = 2; d < s.rank(); ++d) positions *= s[d];
  }
  size_t bytes() const {
    return static_cast<size_t>(images * channels * positions) * sizeof(float);
  }
  void Run(const void* from, void* to, bool to_last, int threads) const {
    static const TransposeFn transpose = FindTranspose();
    const int64_t rows = to_last ? channels : positions, columns = to_last ? positions : channels;
    const int64_t plane = channels * positions;
    const auto* source = static_cast<const uint32_t*>(from);
    auto* target = static_cast<uint32_t*>(to);
    // Strips of rows, so that a single image is split among threads too.
    constexpr int64_t kStrip = 16;
    const int64_t strips = (rows + kStrip - 1) / kStrip;
    const double ns = 0.3 * static_cast<double>(kStrip * columns);
    ParallelFor(threads, images * strips, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t image = i / strips * plane, first = i % strips * kStrip;
        transpose(source + image + first * columns, columns, target + image + first, rows,
                  std::min(kStrip, rows - first), columns);
      }
    });
  }
};

class TransposedKernel final : public Kernel {
 public:
  TransposedKernel(std::unique_ptr<Kernel> inner, int num_inputs, std::vector<Transposed> inputs,
                   Transposed output, int threads)
      : inner_(std::move(inner)),
        num_inputs_(num_inputs),
        inputs_(std::move(inputs)),
        output_(output),
        threads_(threads) {}

  absl::Status Run(RunContext& r) const override {
    char* const scratch = static_cast<char*>(r.scratch());
    absl::InlinedVector<const void*, 8> inputs;
    for (int i = 0; i < num_inputs_; ++i) inputs.push_back(r.input(i));
    for (const Transposed& t : inputs_) {
      if (r.input(t.input) == nullptr) continue;  // not read
      t.Run(r.input(t.input), scratch + t.offset, /*to_last=*/true, threads_);
      inputs[static_cast<size_t>(t.input)] = scratch + t.offset;
    }
    void* result = scratch + output_.offset;
    RunContext inner(inputs.data(), &result, scratch);
    TENON_RETURN_IF_ERROR(inner_->Run(inner));
    output_.Run(result, r.output(0), /*to_last=*/false, threads_);
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat("turned:", inner_->Implementation());
  }
  double Flops() const override { return inner_->Flops(); }
  size_t HeldBytes() const override { return inner_->HeldBytes(); }

 private:
  const std::unique_ptr<Kernel> inner_;
  const int num_inputs_;
  const std::vector<Transposed> inputs_;
  const Transposed output_;
  const int threads_;
};

Node ChannelsLast(const Node& node, int spatial) {
  Node last = node;
  last.attrs["data_format"] = spatial == 2 ? "NHWC" : "NDHWC";
  const size_t rank = static_cast<size_t>(spatial + 2);
  for (const char* attr : {"ksize", "strides", "dilations", "explicit_paddings"}) {
    const auto* list = node.attr<std::vector<int64_t>>(attr);
    if (list == nullptr) continue;
    if (list->size() == rank) last.attrs[attr] = ToLast(*list, 1);
    if (list->size() == 2 * rank) last.attrs[attr] = ToLast(*list, 2);
  }
  return last;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> PrepareChannelsLast(PrepareContext& p, int spatial,
                                                            KernelFactory channels_last) {
  const int rank = spatial + 2;
  if (p.output_dtype(0) != DType::kFloat || p.num_outputs() != 1 ||
      p.output_shape(0).rank() != rank || p.output_shape(0).num_elements() == 0) {
    return Unimplemented("channels first, in this form");
  }
  const Node node = ChannelsLast(p.node(), spatial);
  std::vector<TensorSpec> specs;
  std::vector<Tensor> values(static_cast<size_t>(p.num_inputs()));
  std::vector<int> transposed;
  for (int i = 0; i < p.num_inputs(); ++i) {
    TensorSpec spec{p.input_dtype(i), p.input_shape(i), nullptr};
    if (spec.shape.rank() == rank) {
      if (spec.dtype != DType::kFloat) return Unimplemented("not float");
      spec.shape = ToLast(spec.shape);
      transposed.push_back(i);
    } else {
      const Tensor* const value = p.value(i);
      if (value == nullptr || spec.dtype != DType::kInt32 || spec.shape != Shape({rank})) {
        return Unimplemented("a parameter of another form");
      }
      const auto flat = value->flat<int32_t>();
      values[static_cast<size_t>(i)] =
          Tensor::Vector(ToLast(std::vector<int32_t>(flat.begin(), flat.end()), 1));
      spec.value = &values[static_cast<size_t>(i)];
    }
    specs.push_back(std::move(spec));
  }
  const TensorSpec output{p.output_dtype(0), ToLast(p.output_shape(0)), nullptr};
  PrepareContext inner(node, specs, {}, absl::MakeConstSpan(&output, 1), p.services(),
                       p.infer_outputs());
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, channels_last(inner));

  size_t scratch = RoundUp(inner.scratch_bytes(), kCacheLine);
  std::vector<Transposed> inputs;
  for (int i : transposed) {
    const bool unread = std::count(inner.unread().begin(), inner.unread().end(), i) > 0;
    if (unread) continue;
    inputs.emplace_back(i, p.input_shape(i), scratch);
    scratch += RoundUp(inputs.back().bytes(), kCacheLine);
  }
  const Transposed result(-1, p.output_shape(0), scratch);
  p.RequestScratch(scratch + result.bytes());
  for (int i : inner.unread()) p.InputNotRead(i);
  return std::make_unique<TransposedKernel>(std::move(kernel), p.num_inputs(), std::move(inputs),
                                            result, p.services().threads);
}

}  // namespace tenon
