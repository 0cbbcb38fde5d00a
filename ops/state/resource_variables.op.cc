// Resource variables: handle, read, assignment. A session puts the variable itself behind
// VarHandleOp, so that op has no kernel. Reads with a known shape share the variable's memory (the
// plan does that); the kernel here copies.
#include "env/status.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/state/update.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration var_handle({
    .name = "VarHandleOp",
    .outputs = "resource: resource",
    .attrs = "container: string = ; shared_name: string = ; dtype: type; shape: shape; "
             "allowed_devices: list(string) = []",
    .shape = ScalarShape,
    .stateful = true,
    .import_role = ImportRole::kHandle,
});

// Import stores the variable's shape on the node if the model states it.
absl::Status ReadShape(ShapeContext& c) {
  if (const Shape* shape = c.node().attr<Shape>(kVariableShapeAttr)) c.set_output(0, *shape);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ReadVariable(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const Shape planned = p.output_shape(0);
  return MakeKernel([dtype, planned](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Variable* variable, VariableAt(run.input<ObjectPtr>(0)));
    TENON_ASSIGN_OR_RETURN(const Tensor value, variable->Read());
    if (value.dtype() != dtype || !value.shape().CompatibleWith(planned)) {
      return InvalidArgument("variable '", variable->name(), "' is ", Name(value.dtype()),
                             " of shape ", value.shape().ToString(), ", read as ", Name(dtype),
                             " of shape ", planned.ToString());
    }
    void* out = run.output(0);
    if (!planned.IsComplete()) {
      TENON_ASSIGN_OR_RETURN(out, run.AllocateOutput(0, value.shape()));
    }
    CopyElements(dtype, value.raw(), out, value.num_elements());
    return absl::OkStatus();
  });
}

const OpRegistration read_variable({
    .name = "ReadVariableOp",
    .inputs = "resource: resource",
    .outputs = "value: dtype",
    .attrs = "dtype: type",
    .shape = ReadShape,
    .reference = ReadVariable,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

// Import turns the next two into a read and a gather, and of a variable that it knows also the
// third, into a Shape.
const OpRegistration resource_gather({
    .name = "ResourceGather",
    .inputs = "resource: resource, indices: Tindices",
    .outputs = "output: dtype",
    .attrs = "dtype: type; Tindices: type; batch_dims: int = 0; validate_indices: bool = true",
    .types = "Tindices: int32 int64",
    .shape = UnknownShape,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

const OpRegistration resource_gather_nd({
    .name = "ResourceGatherNd",
    .inputs = "resource: resource, indices: Tindices",
    .outputs = "output: dtype",
    .attrs = "dtype: type; Tindices: type",
    .types = "Tindices: int32 int64",
    .shape = UnknownShape,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

absl::StatusOr<std::unique_ptr<Kernel>> ShapeOfVariable(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  return MakeKernel([dtype](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Variable* variable, VariableAt(run.input<ObjectPtr>(0)));
    TENON_ASSIGN_OR_RETURN(const Tensor value, variable->Read());
    TENON_ASSIGN_OR_RETURN(void* out, run.AllocateOutput(0, Shape({value.shape().rank()})));
    for (int d = 0; d < value.shape().rank(); ++d) {
      if (dtype == DType::kInt64) {
        static_cast<int64_t*>(out)[d] = value.shape().dim(d);
      } else {
        static_cast<int32_t*>(out)[d] = static_cast<int32_t>(value.shape().dim(d));
      }
    }
    return absl::OkStatus();
  });
}

const OpRegistration variable_shape({
    .name = "VariableShape",
    .inputs = "input: resource",
    .outputs = "output: out_type",
    .attrs = "out_type: type = int32",
    .types = "out_type: int32 int64",
    .shape = UnknownShape,
    .reference = ShapeOfVariable,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

absl::StatusOr<std::unique_ptr<Kernel>> VarIsInitialized(PrepareContext&) {
  return MakeKernel([](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Variable* variable, VariableAt(run.input<ObjectPtr>(0)));
    *run.output<bool>(0) = variable->initialized();
    return absl::OkStatus();
  });
}

const OpRegistration var_is_initialized({
    .name = "VarIsInitializedOp",
    .inputs = "resource: resource",
    .outputs = "is_initialized: bool",
    .shape = ScalarShape,
    .reference = VarIsInitialized,
    .stateful = true,
    .import_role = ImportRole::kReads,
});

absl::StatusOr<std::unique_ptr<Kernel>> DestroyResource(PrepareContext& p) {
  const bool ignore = p.attrs().Bool("ignore_lookup_error", true);
  return MakeKernel([ignore](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(Variable * variable, VariableAt(run.input<ObjectPtr>(0)));
    if (!ignore && !variable->initialized()) {
      return absl::NotFoundError(absl::StrCat("variable '", variable->name(), "' does not exist"));
    }
    variable->Reset();
    return absl::OkStatus();
  });
}

const OpRegistration destroy_resource({
    .name = "DestroyResourceOp",
    .inputs = "resource: resource",
    .attrs = "ignore_lookup_error: bool = true",
    .reference = DestroyResource,
    .stateful = true,
});

absl::StatusOr<std::unique_ptr<Kernel>> Nothing(PrepareContext&) {
  return MakeKernel([](RunContext&) { return absl::OkStatus(); });
}

const OpRegistration disable_copy_on_read({
    .name = "DisableCopyOnRead",
    .inputs = "resource: resource",
    .reference = Nothing,
    .stateful = true,
    .import_role = ImportRole::kHint,
});

absl::StatusOr<std::unique_ptr<Kernel>> AssignVariable(PrepareContext& p) {
  const DType dtype = p.input_dtype(1);
  const Shape shape = p.input_shape(1);
  const bool validate = p.attrs().Bool("validate_shape", false);
  return MakeKernel([dtype, shape, validate](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(Variable * variable, VariableAt(run.input<ObjectPtr>(0)));
    if (validate && variable->initialized()) {
      TENON_ASSIGN_OR_RETURN(const Tensor old, variable->Read());
      if (old.shape() != shape) {
        return InvalidArgument("variable '", variable->name(), "' has shape ",
                               old.shape().ToString(), "; the value has ", shape.ToString());
      }
    }
    return variable->Assign(
        Tensor::FromExternal(dtype, shape, const_cast<void*>(run.input(1)), nullptr));
  });
}

const OpRegistration assign_variable({
    .name = "AssignVariableOp",
    .inputs = "resource: resource, value: dtype",
    .attrs = "dtype: type; validate_shape: bool = false",
    .reference = AssignVariable,
    .stateful = true,
});

template <bool kSubtract>
absl::StatusOr<std::unique_ptr<Kernel>> AssignUpdate(PrepareContext& p) {
  const DType dtype = p.input_dtype(1);
  const Shape shape = p.input_shape(1);
  return DispatchType(Numbers{}, dtype, [&]<typename T>() {
    return UpdateKernel(
        dtype, {0}, [shape](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
          TENON_RETURN_IF_ERROR(ExpectShape(variables, shape));
          T* v = variables[0]->data<T>();
          const T* delta = run.input<T>(1);
          for (int64_t i = 0; i < shape.num_elements(); ++i) {
            v[i] = kSubtract ? WrapSub(v[i], delta[i]) : WrapAdd(v[i], delta[i]);
          }
          return absl::OkStatus();
        });
  });
}

const OpRegistration assign_add_variable({
    .name = "AssignAddVariableOp",
    .inputs = "resource: resource, value: dtype",
    .attrs = "dtype: type",
    .reference = AssignUpdate<false>,
    .stateful = true,
});

const OpRegistration assign_sub_variable({
    .name = "AssignSubVariableOp",
    .inputs = "resource: resource, value: dtype",
    .attrs = "dtype: type",
    .reference = AssignUpdate<true>,
    .stateful = true,
});

// The variable's value before it is increased by 1; OutOfRange at the limit.
absl::StatusOr<std::unique_ptr<Kernel>> CountUpTo(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t limit, p.attrs().Int("limit"));
  const DType dtype = p.output_dtype(0);
  return UpdateKernel(
      dtype, {0}, [=](RunContext& run, absl::Span<Tensor* const> variables) -> absl::Status {
        TENON_RETURN_IF_ERROR(ExpectShape(variables, Shape()));
        return DispatchType(TypeList<int32_t, int64_t>{}, dtype, [&]<typename T>() -> absl::Status {
          T& value = *variables[0]->data<T>();
          if (value >= limit) {
            return absl::OutOfRangeError(absl::StrCat("the limit of ", limit, " is reached"));
          }
          *run.output<T>(0) = value++;
          return absl::OkStatus();
        });
      });
}

const OpRegistration resource_count_up_to({
    .name = "ResourceCountUpTo",
    .inputs = "resource: resource",
    .outputs = "output: T",
    .attrs = "limit: int; T: type",
    .types = "T: int32 int64",
    .shape = ScalarShape,
    .reference = CountUpTo,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
