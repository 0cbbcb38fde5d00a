#include "kernels/interface/late_kernel.h"

#include "env/status.h"

namespace tenon {
namespace {

class LateKernel final : public Kernel {
 public:
  LateKernel(PrepareContext& p, KernelFactory factory, std::vector<int> value_inputs)
      : node_(p.node()),
        services_(p.services()),
        infer_outputs_(p.infer_outputs()),
        factory_(factory),
        value_inputs_(std::move(value_inputs)) {
    for (int i = 0; i < p.num_inputs(); ++i) {
      inputs_.push_back({p.input_dtype(i), p.input_shape(i), nullptr});
    }
    for (int i = 0; i < p.num_outputs(); ++i) planned_.push_back(p.output_shape(i));
  }

  absl::Status Run(RunContext& run) const override {
    std::vector<TensorSpec> inputs = inputs_;
    std::vector<Tensor> values;
    values.reserve(value_inputs_.size());
    for (int i : value_inputs_) {
      const size_t k = static_cast<size_t>(i);
      values.push_back(Tensor::FromExternal(inputs[k].dtype, inputs[k].shape,
                                            const_cast<void*>(run.input(i)), nullptr));
      inputs[k].value = &values.back();
    }
    TENON_ASSIGN_OR_RETURN(const std::vector<TensorSpec> outputs, infer_outputs_(node_, inputs));
    PrepareContext prepare(node_, inputs, {}, outputs, services_, infer_outputs_);
    TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> kernel, factory_(prepare));

    std::vector<const void*> in;
    for (size_t i = 0; i < inputs.size(); ++i) in.push_back(run.input(static_cast<int>(i)));
    std::vector<void*> out;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int o = static_cast<int>(i);
      out.push_back(planned_[i].IsComplete() ? run.output(o) : nullptr);
      if (planned_[i].IsComplete() || !outputs[i].shape.IsComplete()) continue;
      TENON_ASSIGN_OR_RETURN(out[i], run.AllocateOutput(o, outputs[i].shape));
    }
    TENON_ASSIGN_OR_RETURN(
        Tensor scratch,
        Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(prepare.scratch_bytes())})));
    Forward forward(run);
    RunContext inner(in.data(), out.data(), scratch.raw(), &forward);
    return kernel->Run(inner);
  }
  std::string Implementation() const override { return "reference:late"; }

 private:
  class Forward final : public OutputAllocator {
   public:
    explicit Forward(RunContext& run) : run_(run) {}
    absl::StatusOr<void*> Allocate(int output, const Shape& shape) override {
      return run_.AllocateOutput(output, shape);
    }

   private:
    RunContext& run_;
  };

  Node node_;
  Services services_;
  InferOutputsFn infer_outputs_;
  KernelFactory factory_;
  std::vector<int> value_inputs_;
  std::vector<TensorSpec> inputs_;
  std::vector<Shape> planned_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> PrepareLate(PrepareContext& context, KernelFactory factory,
                                                    std::vector<int> value_inputs) {
  if (context.infer_outputs() == nullptr) return Unimplemented("a value is known at Run only");
  return std::unique_ptr<Kernel>(new LateKernel(context, factory, std::move(value_inputs)));
}

}  // namespace tenon
