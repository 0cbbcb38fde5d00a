#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/round_up.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/fft/fft.h"
#include "kernels/fft/line_pass.h"
#include "kernels/fft/long_lines.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// Passes over the last axes of a tensor, one after the other. Between them, numbers are complex.
template <typename T>
class FftKernel final : public Kernel {
 public:
  // `spectrum`: the shape between passes. Where the output is real, they work in scratch memory.
  FftKernel(std::vector<LinePass<T>> passes, const Shape& spectrum, bool to_real)
      : passes_(std::move(passes)),
        between_(to_real && passes_.size() > 1 ? 2 * spectrum.num_elements() : 0) {
    for (const LinePass<T>& pass : passes_) work_ = std::max(work_, pass.ScratchNumbers());
  }

  size_t ScratchBytes() const {
    return RoundUp(static_cast<size_t>(work_) * sizeof(T), kCacheLine) +
           static_cast<size_t>(between_) * sizeof(T);
  }

  absl::Status Run(RunContext& context) const override {
    T* const work = static_cast<T*>(context.scratch());
    T* const out = static_cast<T*>(context.output(0));
    T* const between =
        between_ == 0
            ? out
            : work + RoundUp(static_cast<size_t>(work_) * sizeof(T), kCacheLine) / sizeof(T);
    const T* from = static_cast<const T*>(context.input(0));
    for (size_t i = 0; i < passes_.size(); ++i) {
      T* const to = i + 1 == passes_.size() ? out : between;
      passes_[i].Run(from, to, work);
      from = to;
    }
    return absl::OkStatus();
  }

  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  const std::vector<LinePass<T>> passes_;
  const int64_t between_;  // numbers
  int64_t work_ = 0;       // numbers
};

template <typename T>
class LongFftKernel final : public Kernel {
 public:
  explicit LongFftKernel(LongLines<T> lines) : lines_(std::move(lines)) {}
  size_t ScratchBytes() const { return static_cast<size_t>(lines_.ScratchNumbers()) * sizeof(T); }
  absl::Status Run(RunContext& context) const override {
    lines_.Run(static_cast<const T*>(context.input(0)), static_cast<T*>(context.output(0)),
               static_cast<T*>(context.scratch()));
    return absl::OkStatus();
  }
  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 private:
  const LongLines<T> lines_;
};

// For transforms over the last axis, of all that the input has there.
template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> LongKernelOf(PrepareContext& p, LineForm form) {
  const Shape &in = p.input_shape(0), &out = p.output_shape(0);
  const int axis = out.rank() - 1;
  const int64_t n = (form == LineForm::kRealInverse ? out : in).dim(axis);
  const int64_t lines = out.num_elements() / out.dim(axis);
  TENON_ASSIGN_OR_RETURN(LongLines<T> long_lines,
                         LongLines<T>::Make(form, lines, n, p.services().threads));
  auto kernel = std::make_unique<LongFftKernel<T>>(std::move(long_lines));
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> KernelOf(PrepareContext& p, std::vector<LinePass<T>> passes,
                                                 const Shape& spectrum, bool to_real) {
  auto kernel = std::make_unique<FftKernel<T>>(std::move(passes), spectrum, to_real);
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

absl::Status CheckSizes(const PrepareContext& p) {
  if (p.input_shape(0).num_elements() > 0 && p.output_shape(0).num_elements() > 0) {
    return absl::OkStatus();
  }
  return Unimplemented("there are no elements");
}

template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> ComplexPasses(PrepareContext& p, int dims, LineForm form) {
  const Shape& shape = p.input_shape(0);
  if (dims == 1) {
    auto kernel = LongKernelOf<T>(p, form);
    if (kernel.ok()) return kernel;
  }
  std::vector<LinePass<T>> passes;
  for (int axis = shape.rank() - 1; axis >= shape.rank() - dims; --axis) {
    TENON_ASSIGN_OR_RETURN(LinePass<T> pass, LinePass<T>::Make(form, shape.dim(axis), axis, shape,
                                                               shape, p.services().threads));
    passes.push_back(std::move(pass));
  }
  p.AllowInPlace(0, 0);
  return KernelOf(p, std::move(passes), shape, /*to_real=*/false);
}

template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> RealPasses(PrepareContext& p, int dims,
                                                   const std::vector<int64_t>& lengths) {
  const Shape &in = p.input_shape(0), &out = p.output_shape(0);
  if (dims == 1 && in.dim(in.rank() - 1) == lengths[0]) {
    auto kernel = LongKernelOf<T>(p, LineForm::kReal);
    if (kernel.ok()) return kernel;
  }
  std::vector<LinePass<T>> passes;
  for (int d = dims - 1; d >= 0; --d) {
    const bool first = d == dims - 1;
    TENON_ASSIGN_OR_RETURN(LinePass<T> pass,
                           LinePass<T>::Make(first ? LineForm::kReal : LineForm::kForward,
                                             lengths[static_cast<size_t>(d)], out.rank() - dims + d,
                                             first ? in : out, out, p.services().threads));
    passes.push_back(std::move(pass));
  }
  return KernelOf(p, std::move(passes), out, /*to_real=*/false);
}

template <typename T>
absl::StatusOr<std::unique_ptr<Kernel>> InverseRealPasses(PrepareContext& p, int dims) {
  const Shape &in = p.input_shape(0), &out = p.output_shape(0);
  const int last = out.rank() - 1;
  Shape half = out;  // the part of the spectrum that is read
  half.set_dim(last, out.dim(last) / 2 + 1);
  if (dims == 1 && in == half) {
    auto kernel = LongKernelOf<T>(p, LineForm::kRealInverse);
    if (kernel.ok()) return kernel;
  }
  std::vector<LinePass<T>> passes;
  for (int axis = out.rank() - dims; axis <= last; ++axis) {
    TENON_ASSIGN_OR_RETURN(
        LinePass<T> pass,
        LinePass<T>::Make(axis == last ? LineForm::kRealInverse : LineForm::kInverse, out.dim(axis),
                          axis, passes.empty() ? in : half, axis == last ? out : half,
                          p.services().threads));
    passes.push_back(std::move(pass));
  }
  return KernelOf(p, std::move(passes), half, /*to_real=*/true);
}

using FftReals = TypeList<float, double>;

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> FftVector(PrepareContext& p, int dims,
                                                  FftDirection direction) {
  TENON_RETURN_IF_ERROR(CheckSizes(p));
  const LineForm form =
      direction == FftDirection::kForward ? LineForm::kForward : LineForm::kInverse;
  return DispatchType(Complexes{}, p.input_dtype(0), [&]<typename C>() {
    return ComplexPasses<typename C::value_type>(p, dims, form);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RealFftVector(PrepareContext& p, int dims) {
  p.InputNotRead(1);
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, FftLengths(*p.value(1), dims));
  TENON_RETURN_IF_ERROR(CheckSizes(p));
  return DispatchType(FftReals{}, p.input_dtype(0),
                      [&]<typename T>() { return RealPasses<T>(p, dims, lengths); });
}

absl::StatusOr<std::unique_ptr<Kernel>> InverseRealFftVector(PrepareContext& p, int dims) {
  p.InputNotRead(1);
  TENON_RETURN_IF_ERROR(CheckSizes(p));
  return DispatchType(FftReals{}, p.output_dtype(0),
                      [&]<typename T>() { return InverseRealPasses<T>(p, dims); });
}

}  // namespace tenon
