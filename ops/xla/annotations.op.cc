// Ops that tell XLA something and give their input as it is, on one device: shardings, barriers,
// bounds. And XlaReplicaId, which is 0 there.
#include "kernels/example_proto/wire.h"
#include "kernels/layout/copy.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status EachUnchanged(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i));
  return absl::OkStatus();
}

// Of an OpSharding message: the number of parts is 1 in every dimension.
absl::Status ExpectOnePart(const std::string& sharding) {
  constexpr uint32_t kTileDims = 3;
  WireReader reader(sharding);
  WireField field;
  bool whole = true;
  while (reader.Next(field)) {
    if (field.number != kTileDims) continue;
    if (!field.is_bytes()) {
      whole = whole && field.value == 1;
      continue;
    }
    WireReader packed(field.bytes);
    uint64_t parts = 1;
    while (!packed.done() && packed.Varint(parts)) whole = whole && parts == 1;
    if (!packed.ok()) return InvalidArgument("the sharding is not a serialized message");
  }
  if (!reader.ok()) return InvalidArgument("the sharding is not a serialized message");
  if (!whole) return Unimplemented("tensors that are spread over several devices");
  return absl::OkStatus();
}

absl::Status ToShardShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string sharding, c.attrs().String("manual_sharding"));
  TENON_RETURN_IF_ERROR(ExpectOnePart(sharding));
  return UnchangedShape(c);
}

absl::Status ToFullShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::string sharding, c.attrs().String("manual_sharding"));
  TENON_RETURN_IF_ERROR(ExpectOnePart(sharding));
  TENON_ASSIGN_OR_RETURN(const Shape full, c.attrs().ShapeOf("full_shape"));
  if (!full.CompatibleWith(c.input(0))) {
    return InvalidArgument("full_shape is ", full.ToString(), ", but the input has shape ",
                           c.input(0).ToString());
  }
  TENON_ASSIGN_OR_RETURN(Shape out, MergeShapes(full, c.input(0)));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration sharding({
    .name = "XlaSharding",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; sharding: string = ; unspecified_dims: list(int) = []",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
    .moves_elements = true,
    .sign = Sign::kOfInputs,
});

const OpRegistration full_to_shard({
    .name = "XlaSpmdFullToShardShape",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; manual_sharding: string; dim: int = -1; unspecified_dims: list(int) = []",
    .shape = ToShardShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration shard_to_full({
    .name = "XlaSpmdShardToFullShape",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type; manual_sharding: string; full_shape: shape; dim: int = -1; "
             "unspecified_dims: list(int) = []",
    .shape = ToFullShape,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration optimization_barrier({
    .name = "XlaOptimizationBarrier",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: list(type)",
    .shape = EachUnchanged,
    .reference = CopyKernel,
    .alias = true,
});

const OpRegistration set_bound({
    .name = "XlaSetBound",
    .inputs = "input: int32, bound: int32",
    .outputs = "output: int32",
    .shape = UnchangedShape,
    .reference = CopyKernel,
    .alias = true,
});

// The result of what XLA compiles as one.
const OpRegistration cluster_output({
    .name = "XlaClusterOutput",
    .inputs = "input: T",
    .outputs = "outputs: T",
    .attrs = "T: type",
    .shape = EachUnchanged,
    .reference = CopyKernel,
    .alias = true,
});

absl::StatusOr<std::unique_ptr<Kernel>> ReplicaId(PrepareContext& p) {
  return MakeKernel([](RunContext& run) {
    *run.output<int32_t>(0) = 0;
    return absl::OkStatus();
  });
}

const OpRegistration replica_id({
    .name = "XlaReplicaId",
    .outputs = "id: int32",
    .shape = ScalarShape,
    .reference = ReplicaId,
});

}  // namespace
}  // namespace tenon
