#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/fft/fft.h"
#include "kernels/fft/line_pass.h"
#include "kernels/interface/round_up.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using Form = LinePass::Form;

// Passes over the last axes of a tensor, one after the other. Between them, numbers are complex.
class FftKernel final : public Kernel {
 public:
  // `spectrum`: the shape between passes. Where the output is real, they work in scratch memory.
  FftKernel(std::vector<LinePass> passes, const Shape& spectrum, bool to_real)
      : passes_(std::move(passes)),
        between_(to_real && passes_.size() > 1 ? 2 * spectrum.num_elements() : 0) {
    for (const LinePass& pass : passes_) work_ = std::max(work_, pass.ScratchFloats());
  }

  size_t ScratchBytes() const {
    return RoundUp(static_cast<size_t>(work_) * sizeof(float), kCacheLine) +
           static_cast<size_t>(between_) * sizeof(float);
  }

  absl::Status Run(RunContext& context) const override {
    float* const work = static_cast<float*>(context.scratch());
    float* const out = static_cast<float*>(context.output(0));
    float* const between =
        between_ == 0 ? out
                      : work + RoundUp(static_cast<size_t>(work_) * sizeof(float), kCacheLine) /
                                   sizeof(float);
    const float* from = static_cast<const float*>(context.input(0));
    for (size_t i = 0; i < passes_.size(); ++i) {
      float* const to = i + 1 == passes_.size() ? out : between;
      passes_[i].Run(from, to, work);
      from = to;
    }
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  const std::vector<LinePass> passes_;
  const int64_t between_;  // floats
  int64_t work_ = 0;       // floats
};

absl::StatusOr<std::unique_ptr<Kernel>> KernelOf(PrepareContext& p, std::vector<LinePass> passes,
                                                 const Shape& spectrum, bool to_real) {
  auto kernel = std::make_unique<FftKernel>(std::move(passes), spectrum, to_real);
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

absl::Status CheckSizes(const PrepareContext& p) {
  if (p.input_shape(0).num_elements() > 0 && p.output_shape(0).num_elements() > 0) {
    return absl::OkStatus();
  }
  return Unimplemented("there are no elements");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FftVector(PrepareContext& p, int dims,
                                                  FftDirection direction) {
  if (p.input_dtype(0) != DType::kComplex64) return NoKernelFor(p.input_dtype(0));
  TENON_RETURN_IF_ERROR(CheckSizes(p));
  const Shape& shape = p.input_shape(0);
  const Form form = direction == FftDirection::kForward ? Form::kForward : Form::kInverse;
  std::vector<LinePass> passes;
  for (int axis = shape.rank() - 1; axis >= shape.rank() - dims; --axis) {
    TENON_ASSIGN_OR_RETURN(LinePass pass, LinePass::Make(form, shape.dim(axis), axis, shape, shape,
                                                         p.services().threads));
    passes.push_back(std::move(pass));
  }
  p.AllowInPlace(0, 0);
  return KernelOf(p, std::move(passes), shape, /*to_real=*/false);
}

absl::StatusOr<std::unique_ptr<Kernel>> RealFftVector(PrepareContext& p, int dims) {
  if (p.input_dtype(0) != DType::kFloat) return NoKernelFor(p.input_dtype(0));
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, FftLengths(*p.value(1), dims));
  TENON_RETURN_IF_ERROR(CheckSizes(p));
  const Shape &in = p.input_shape(0), &out = p.output_shape(0);
  std::vector<LinePass> passes;
  for (int d = dims - 1; d >= 0; --d) {
    const bool first = d == dims - 1;
    TENON_ASSIGN_OR_RETURN(
        LinePass pass,
        LinePass::Make(first ? Form::kReal : Form::kForward, lengths[static_cast<size_t>(d)],
                       out.rank() - dims + d, first ? in : out, out, p.services().threads));
    passes.push_back(std::move(pass));
  }
  return KernelOf(p, std::move(passes), out, /*to_real=*/false);
}

absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFftVector(PrepareContext& p, int dims) {
  if (p.output_dtype(0) != DType::kFloat) return NoKernelFor(p.output_dtype(0));
  p.InputNotRead(1);
  TENON_RETURN_IF_ERROR(CheckSizes(p));
  const Shape &in = p.input_shape(0), &out = p.output_shape(0);
  const int last = out.rank() - 1;
  Shape half = out;  // the part of the spectrum that is read
  half.set_dim(last, out.dim(last) / 2 + 1);
  std::vector<LinePass> passes;
  for (int axis = out.rank() - dims; axis <= last; ++axis) {
    TENON_ASSIGN_OR_RETURN(LinePass pass,
                           LinePass::Make(axis == last ? Form::kRealInverse : Form::kInverse,
                                          out.dim(axis), axis, passes.empty() ? in : half,
                                          axis == last ? out : half, p.services().threads));
    passes.push_back(std::move(pass));
  }
  return KernelOf(p, std::move(passes), half, /*to_real=*/true);
}

}  // namespace tenon
