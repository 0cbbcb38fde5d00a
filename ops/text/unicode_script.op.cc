// UnicodeScript: the script of each code point, as ICU numbers them; -1 for what is no code point.
#include "kernels/text/characters.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::StatusOr<std::unique_ptr<Kernel>> UnicodeScript(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  p.AllowInPlace(0, 0);
  return MakeKernel([n](RunContext& run) {
    for (int64_t i = 0; i < n; ++i) {
      run.output<int32_t>(0)[i] = ScriptOf(run.input<int32_t>(0)[i]);
    }
    return absl::OkStatus();
  });
}

const OpRegistration unicode_script({
    .name = "UnicodeScript",
    .inputs = "input: int32",
    .outputs = "output: int32",
    .shape = UnchangedShape,
    .reference = UnicodeScript,
});

}  // namespace
}  // namespace tenon
