// _Attention: softmax(q · k * scale, with masks and conditions) · v over labeled dimensions
// (kernels/attention/attention.h).
#include "kernels/attention/attention.h"

#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status Shapes(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const AttentionSpec spec, ParseAttention(c.attrs()));
  std::vector<Shape> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  TENON_ASSIGN_OR_RETURN(Shape out, AttentionShape(spec, inputs));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The output's first label must not be the rows of another tensor's later axis, nor the keys.
bool RowsApart(const BatchAxisNode& n) {
  const auto spec = ParseAttention(AttrReader(n.node));
  if (!spec.ok() || static_cast<int>(n.inputs.size()) != spec->num_inputs) return false;
  const char rows = spec->out[0];
  if (rows == spec->width || rows == spec->key) return false;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (n.inputs[i] == BatchAxis::kNone) continue;
    if (n.inputs[i] == BatchAxis::kOther) return false;
    const size_t rank = static_cast<size_t>(n.in[i].shape.rank());
    if (rank == 0 || rank > spec->scores.size() + 2) return false;
    const std::string labels =
        i < 3 ? spec->operands[i]
              : spec->scores.substr(spec->scores.size() - std::min(rank, spec->scores.size()));
    if (labels.empty() || labels[0] != rows || n.in[i].shape.dim(0) != n.out[0].shape.dim(0)) {
      return false;
    }
  }
  return true;
}

const OpRegistration attention({
    .name = "_Attention",
    .inputs = "q: T, k: T, v: T, mask: num_masks * T, condition: num_conditions * bool",
    .outputs = "output: T",
    .attrs = "T: type; num_masks: int = 0; num_conditions: int = 0; equation: string; "
             "scores: string; repeated: string = ; scale: float = 1; "
             "steps: list(string) = []; values: list(float) = []; zero_hidden: bool = false",
    .types = "T: half bfloat16 float double",
    .shape = Shapes,
    .reference = AttentionReference,
    .accelerated = AttentionVector,
    .native = "_MklNativeAttention",
    .native_types = "float bfloat16",
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .batch_axis = RowsApart,
});

}  // namespace
}  // namespace tenon
