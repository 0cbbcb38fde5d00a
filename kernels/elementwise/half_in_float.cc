#include "kernels/elementwise/half_in_float.h"

#include <string>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/elementwise/half_simd.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// A copy in scratch memory of an input or output of halves.
struct FloatCopy {
  int index = 0;  // of the input or output
  int64_t elements = 0;
  size_t offset = 0;  // in scratch memory, in bytes
};

// Per element. More than an instruction takes, so that threads share the conversions as they will
// share the work: moving lines between their caches takes longer.
constexpr double kConversionNs = 0.3;

class HalfInFloat final : public Kernel {
 public:
  HalfInFloat(std::unique_ptr<Kernel> kernel, std::vector<FloatCopy> inputs,
              std::vector<FloatCopy> outputs, const PrepareContext& p)
      : kernel_(std::move(kernel)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        num_inputs_(static_cast<size_t>(p.num_inputs())),
        num_outputs_(static_cast<size_t>(p.num_outputs())),
        threads_(p.services().threads) {}

  absl::Status Run(RunContext& run) const override {
    absl::InlinedVector<const void*, 8> in(num_inputs_);
    absl::InlinedVector<void*, 4> out(num_outputs_);
    for (size_t i = 0; i < in.size(); ++i) in[i] = run.input(static_cast<int>(i));
    for (size_t i = 0; i < out.size(); ++i) out[i] = run.output(static_cast<int>(i));
    for (const FloatCopy& copy : inputs_) {
      const auto* const from = run.input<uint16_t>(copy.index);
      float* const to = Memory(run, copy);
      ForParts(copy, [&](int64_t begin, size_t n) { WidenHalf(from + begin, to + begin, n); });
      in[static_cast<size_t>(copy.index)] = to;
    }
    for (const FloatCopy& copy : outputs_) out[static_cast<size_t>(copy.index)] = Memory(run, copy);
    RunContext inner(in.data(), out.data(), run.scratch());
    TENON_RETURN_IF_ERROR(kernel_->Run(inner));
    for (const FloatCopy& copy : outputs_) {
      const float* const from = Memory(run, copy);
      auto* const to = run.output<uint16_t>(copy.index);
      ForParts(copy, [&](int64_t begin, size_t n) { NarrowToHalf(from + begin, to + begin, n); });
    }
    return absl::OkStatus();
  }

  std::string Implementation() const override { return kernel_->Implementation(); }
  double Flops() const override { return kernel_->Flops(); }
  size_t HeldBytes() const override { return kernel_->HeldBytes(); }

 private:
  static float* Memory(const RunContext& run, const FloatCopy& copy) {
    return reinterpret_cast<float*>(static_cast<char*>(run.scratch()) + copy.offset);
  }
  void ForParts(const FloatCopy& copy, absl::FunctionRef<void(int64_t begin, size_t n)> f) const {
    ParallelFor(threads_, copy.elements, ParallelGrain(kConversionNs),
                [&](int64_t begin, int64_t end) { f(begin, static_cast<size_t>(end - begin)); });
  }

  std::unique_ptr<Kernel> kernel_;
  std::vector<FloatCopy> inputs_, outputs_;
  size_t num_inputs_, num_outputs_;
  int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> PrepareInFloat(PrepareContext& p,
                                                       absl::Span<const TensorSpec> specs,
                                                       KernelFactory factory) {
  Node node = p.node();
  for (auto& [name, value] : node.attrs) {
    const DType* const dtype = value.get_if<DType>();
    if (dtype != nullptr && *dtype == DType::kHalf) value = DType::kFloat;
  }
  std::vector<TensorSpec> inputs, outputs;
  std::vector<FloatCopy> input_copies, output_copies;
  absl::InlinedVector<Constant*, 8> constants;
  for (int i = 0; i < p.num_inputs(); ++i) {
    const TensorSpec& spec = specs[static_cast<size_t>(i)];
    const bool half = spec.dtype == DType::kHalf;
    if (half) input_copies.push_back({i, spec.shape.num_elements()});
    inputs.push_back(half ? TensorSpec{DType::kFloat, spec.shape, nullptr} : spec);
    constants.push_back(half ? nullptr : p.constant(i));
  }
  for (int o = 0; o < p.num_outputs(); ++o) {
    const bool half = p.output_dtype(o) == DType::kHalf;
    if (!p.output_shape(o).IsComplete()) return Unimplemented("an output's shape depends on data");
    if (half) output_copies.push_back({o, p.output_shape(o).num_elements()});
    outputs.push_back({half ? DType::kFloat : p.output_dtype(o), p.output_shape(o), nullptr});
  }

  PrepareContext inner(node, inputs, constants, outputs, p.services(), p.infer_outputs());
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, factory(inner));
  // What the kernel does not read may not be there.
  for (const int i : inner.unread()) {
    std::erase_if(input_copies, [i](const FloatCopy& copy) { return copy.index == i; });
  }
  size_t bytes = RoundUp(inner.scratch_bytes(), kCacheLine);
  for (auto* copies : {&input_copies, &output_copies}) {
    for (FloatCopy& copy : *copies) {
      copy.offset = bytes;
      bytes += RoundUp(static_cast<size_t>(copy.elements) * sizeof(float), kCacheLine);
    }
  }
  p.RequestScratch(bytes);
  for (const int i : inner.value_inputs()) p.value(i);
  for (const int i : inner.unread()) p.InputNotRead(i);
  return std::unique_ptr<Kernel>(
      new HalfInFloat(std::move(kernel), std::move(input_copies), std::move(output_copies), p));
}

}  // namespace tenon
