// ResourceScatterNd{Update,Add,Sub,Min,Max}: what TensorScatter… does, on a variable.
#include <utility>

#include "env/status.h"
#include "kernels/state/update.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The op on tensors whose result becomes the variable's value.
template <const char* const& kOp>
absl::StatusOr<std::unique_ptr<Kernel>> ScatterNd(PrepareContext& p) {
  const DType dtype = p.input_dtype(2);
  Node node;
  node.name = p.node().name;
  node.op = kOp;
  node.attrs["T"] = DType(dtype);
  node.attrs["Tindices"] = p.input_dtype(1);
  node.attrs["bad_indices_policy"] = p.attrs().String("bad_indices_policy", "");
  const TensorSpec indices{p.input_dtype(1), p.input_shape(1), nullptr};
  const TensorSpec updates{dtype, p.input_shape(2), nullptr};
  const Services services = p.services();
  return UpdateKernel(
      dtype, {0}, [=](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
        const auto input = [&](int i, const TensorSpec& spec) {
          return Tensor::FromExternal(spec.dtype, spec.shape, const_cast<void*>(run.input(i)),
                                      nullptr);
        };
        TENON_ASSIGN_OR_RETURN(
            std::vector<Tensor> results,
            Evaluate(node, {*variables[0], input(1, indices), input(2, updates)}, services));
        *variables[0] = std::move(results[0]);
        return absl::OkStatus();
      });
}

constexpr const char* kUpdate = "TensorScatterUpdate";
constexpr const char* kAdd = "TensorScatterAdd";
constexpr const char* kSub = "TensorScatterSub";
constexpr const char* kMin = "TensorScatterMin";
constexpr const char* kMax = "TensorScatterMax";

OpRow Row(const char* name, KernelFactory kernel) {
  return {
      .name = name,
      .inputs = "ref: resource, indices: Tindices, updates: T",
      .attrs = "T: type; Tindices: type; use_locking: bool = true; bad_indices_policy: string = ",
      .types = "Tindices: int32 int64",
      .reference = kernel,
      .stateful = true,
  };
}

const OpRegistration update(Row("ResourceScatterNdUpdate", ScatterNd<kUpdate>));
const OpRegistration add(Row("ResourceScatterNdAdd", ScatterNd<kAdd>));
const OpRegistration sub(Row("ResourceScatterNdSub", ScatterNd<kSub>));
const OpRegistration min(Row("ResourceScatterNdMin", ScatterNd<kMin>));
const OpRegistration max(Row("ResourceScatterNdMax", ScatterNd<kMax>));

}  // namespace
}  // namespace tenon
