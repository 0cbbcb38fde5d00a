#include "kernels/convolution/conv_product.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/convolution/im2col.h"
#include "kernels/interface/parallel.h"
#include "primitive_cache/matmul.h"

namespace tenon {
namespace {

constexpr int64_t kFewPixels = 256;
constexpr int64_t kLargeFilter = int64_t{1} << 18;
constexpr int64_t kMostWindow = 256;

// The im2col matrix: one row per output pixel, with the input pixels of its window.
struct Columns {
  std::vector<int64_t> sources;
  int64_t batch, image, channels;
  int threads;

  void Fill(const float* x, float* columns) const {
    const int64_t per_image = static_cast<int64_t>(sources.size());
    const size_t bytes = static_cast<size_t>(channels) * sizeof(float);
    const double ns = 10 + 0.1 * static_cast<double>(channels);
    ParallelFor(threads, batch * per_image, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = sources[static_cast<size_t>(i % per_image)];
        float* const to = columns + i * channels;
        if (from < 0) {
          std::memset(to, 0, bytes);
        } else {
          std::memcpy(to, x + i / per_image * image + from * channels, bytes);
        }
      }
    });
  }
};

class ProductKernel final : public Kernel {
 public:
  ProductKernel(Columns columns, std::shared_ptr<const Primitive> product, size_t product_scratch,
                double flops)
      : columns_(std::move(columns)),
        product_(std::move(product)),
        product_scratch_(product_scratch),
        flops_(flops) {}
  absl::Status Run(RunContext& r) const override {
    char* const scratch = static_cast<char*>(r.scratch());
    float* const columns = reinterpret_cast<float*>(scratch + product_scratch_);
    columns_.Fill(r.input<float>(0), columns);
    void* const pointers[] = {columns, const_cast<void*>(r.input(1)), r.output(0)};
    return product_->Execute(pointers, scratch);
  }
  std::string Implementation() const override {
    return absl::StrCat("im2col:", product_->implementation());
  }
  double Flops() const override { return flops_; }
  size_t HeldBytes() const override {
    return product_->bytes() + columns_.sources.size() * sizeof(int64_t);
  }

 private:
  const Columns columns_;
  const std::shared_ptr<const Primitive> product_;
  const size_t product_scratch_;
  const double flops_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvProductKernel(PrepareContext& p, const ConvGeometry& g,
                                                          const FusedOps& fused) {
  const int64_t rows = g.batch * g.out_positions(), filter = p.input_shape(1).num_elements();
  if (p.constant(1) != nullptr || p.output_dtype(0) != DType::kFloat || !g.attrs.channels_last ||
      g.groups != 1 || g.depthwise || !fused.empty() || rows > kFewPixels ||
      filter < kLargeFilter || g.window_positions() > kMostWindow) {
    return Unimplemented("a convolution that is faster with a packed filter");
  }
  const int64_t terms = g.window_positions() * g.in_channels;
  MatmulProblem problem;
  problem.src = DenseDesc(ElementType::kF32, {rows, terms});
  problem.weights = DenseDesc(ElementType::kF32, {terms, g.out_channels});
  problem.dst = DenseDesc(ElementType::kF32, {rows, g.out_channels});
  problem.threads = p.services().threads;
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const Primitive> product,
                         GetMatmul(problem, p.services().cache));
  Columns columns{WindowSources(g), g.batch, p.input_shape(0).num_elements() / g.batch,
                  g.in_channels, p.services().threads};
  const size_t scratch = RoundUp(product->scratch_bytes(), kCacheLine);
  p.RequestScratch(scratch + static_cast<size_t>(rows * terms) * sizeof(float));
  return std::make_unique<ProductKernel>(std::move(columns), std::move(product), scratch,
                                         g.flops());
}

}  // namespace tenon
