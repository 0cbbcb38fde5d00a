#include "kernels/lists/composite.h"

#include <string>
#include <utility>
#include <vector>

#include "env/status.h"
#include "graph/object.h"
#include "kernels/example_proto/wire.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {
namespace {

struct CompositeTensor final : Object {
  uint64_t kind = 0;
  std::vector<std::shared_ptr<const Tensor>> parts;
};

// The number in field 1 of the message in field 1 (type_spec_proto, type_spec_class).
absl::StatusOr<uint64_t> KindOf(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::string metadata, attrs.String("metadata"));
  uint64_t kind = 0;
  bool ok = true;
  WireReader reader(metadata);
  for (WireField outer; reader.Next(outer);) {
    if (outer.number != 1 || !outer.is_bytes()) continue;
    WireReader spec(outer.bytes);
    for (WireField inner; spec.Next(inner);) {
      if (inner.number == 1 && inner.type == WireType::kVarint) kind = inner.value;
    }
    ok = ok && spec.ok();
  }
  if (!ok || !reader.ok()) return InvalidArgument("metadata is no description of a type");
  return kind;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CompositeOfKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const uint64_t kind, KindOf(p.attrs()));
  std::vector<TensorSpec> specs;
  for (int i = 0; i < p.num_inputs(); ++i) specs.push_back(InputSpec(p, i));
  return MakeKernel([kind, specs](RunContext& run) -> absl::Status {
    auto made = std::make_shared<CompositeTensor>();
    made->kind = kind;
    TENON_ASSIGN_OR_RETURN(made->parts, KeepInputs(run, specs));
    *run.output<ObjectPtr>(0) = std::move(made);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CompositePartsKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const uint64_t kind, KindOf(p.attrs()));
  if (p.input_shape(0).num_elements() < 1) return InvalidArgument("the variant tensor is empty");
  std::vector<TensorSpec> outputs;
  for (int i = 0; i < p.num_outputs(); ++i) {
    outputs.push_back({p.output_dtype(i), p.output_shape(i), nullptr});
  }
  return MakeKernel([kind, outputs](RunContext& run) -> absl::Status {
    const auto* found = dynamic_cast<const CompositeTensor*>(run.input<ObjectPtr>(0)->get());
    if (found == nullptr) return InvalidArgument("expected a composite tensor");
    if (found->kind != kind) {
      return InvalidArgument("a composite tensor of class ", found->kind, "; expected ", kind);
    }
    return WriteItems(run, "composite tensor", found->parts, outputs);
  });
}

}  // namespace tenon
