#include <string>
#include <utility>

#include "env/status.h"
#include "kernels/convolution/depthwise_lines.h"
#include "kernels/quantized/integer_conv.h"
#include "kernels/quantized/integer_product.h"
#include "kernels/quantized/vector_epilogue.h"

namespace tenon {
namespace {

class IntegerDepthwiseKernel final : public Kernel {
 public:
  IntegerDepthwiseKernel(PrepareContext& p, const QuantizedFusion& fusion, double flops,
                         DepthwiseLines lines)
      : lines_(std::move(lines)), epilogue_(p, fusion, false, {}), flops_(flops) {}

  absl::Status Prepare(PrepareContext& p) {
    constexpr double kNs = 4;
    p.RequestScratch(lines_.PlanRanges(p.services().threads, kNs));
    return epilogue_.Prepare(p);
  }

  absl::Status Run(RunContext& r) const override {
    const auto values = epilogue_.Begin(r);
    lines_.Run(r.input(0), r.scratch(),
               [&](const NarrowSums& part) { epilogue_.Apply(r, *values, part); });
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return IntegersImplementation(lines_.filter().form);
  }
  double Flops() const override { return flops_; }

 private:
  DepthwiseLines lines_;
  VectorEpilogue epilogue_;
  const double flops_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> IntegerDepthwiseConv(PrepareContext& p,
                                                             const ConvGeometry& g,
                                                             const QuantizedFusion& fusion) {
  if (p.input_dtype(1) != DType::kQint8) return Unimplemented("a filter that is not qint8");
  TENON_RETURN_IF_ERROR(VectorEpilogue::CanApply(p, fusion));
  TENON_ASSIGN_OR_RETURN(const LeftNumbers numbers, LeftNumbersOf(p, fusion));
  TENON_ASSIGN_OR_RETURN(DepthwiseLines lines, DepthwiseLines::Make(p, g, IntegerForm()));
  lines.SetZero(numbers.flip, numbers.zero);
  auto kernel = std::make_unique<IntegerDepthwiseKernel>(p, fusion, g.flops(), std::move(lines));
  TENON_RETURN_IF_ERROR(kernel->Prepare(p));
  return kernel;
}

}  // namespace tenon
