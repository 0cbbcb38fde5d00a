// The call of the target `c_api` that writes a smaller model. The target `quantize` has more
// networks, options and samples; this is about the arguments.
#include <filesystem>

#include "tests/fuzz/targets/c_api.h"
#include "tests/fuzz/targets/scratch_folder.h"
#include "tests/fuzz/targets/target.h"

namespace tenon::c_api_fuzz {
namespace {

tenon_quantize_options DrawOptions(Objects& o) {
  const char* const weights[] = {nullptr, "int8", "int4", "bf16", "int3"};
  const char* const methods[] = {"error", "minmax", "percentile", "entropy", "none", nullptr};
  const char* const scales[] = {"float16", "bfloat16", "float32", "int8", nullptr};
  const char* const keep[] = {nullptr, "m", "y,m", ",", "none"};
  const char* const labels[] = {nullptr, "x", "none"};
  tenon_quantize_options options = TENON_QUANTIZE_OPTIONS_INIT;
  options.weights = o.Pick(weights);
  const uint8_t set = o.bytes.Byte();
  if ((set & 1) != 0) options.method = o.Pick(methods);
  if ((set & 2) != 0) options.scales = o.Pick(scales);
  if ((set & 4) != 0) options.keep = o.Pick(keep);
  if ((set & 8) != 0) options.labels = o.Pick(labels);
  if ((set & 16) != 0) options.batch = o.Dim();
  if ((set & 32) != 0) options.group = o.Dim();
  if ((set & 64) != 0) options.percentile = static_cast<double>(o.Dim()) * 50;
  options.zero_points = (set & 128) != 0 ? 1 : 0;
  options.least_weights = o.Dim();
  options.progress = [](void*, const char* stage, int64_t done, int64_t total) {
    if (*stage == '\0' || done > total) FuzzFailure("progress");
  };
  return options;
}

}  // namespace

void Quantize(Objects& o) {
  const tenon_model* const model = o.models.Live(o.bytes);
  const tenon_session_options load = DrawSessionOptions(o);
  const tenon_quantize_options options = DrawOptions(o);
  const char* const names[] = {"x", "features", "s", "none", nullptr};
  const char* const sample_names[] = {o.Pick(names), o.Pick(names)};
  const tenon_tensor* const samples[] = {o.tensors.Live(o.bytes), o.tensors.Live(o.bytes)};
  const int num_samples = std::min(static_cast<int>(o.bytes.Below(4)) - 1, 2);
  // A file, a folder, a file that exists, a folder that does not, no name.
  const char* const outputs[] = {"small.pb", "small.pbtxt", "small", "taken", "no/small.pb", ""};
  const std::string taken = WriteScratchFile("taken", "");
  const std::filesystem::path folder = std::filesystem::path(taken).parent_path();
  const std::string name = o.Pick(outputs);
  const std::string output = name.empty() ? "" : (folder / name).string();
  const bool wants_report = o.bytes.Bool();
  const auto call = [&](tenon_text** text) {
    return tenon_quantize(model, &load, &options, sample_names, samples, num_samples,
                          output.c_str(), text);
  };
  if (wants_report) {
    GetText(call);
  } else {
    Done(call(nullptr));
  }
  std::error_code ignored;
  if (!output.empty()) std::filesystem::remove_all(output, ignored);
}

}  // namespace tenon::c_api_fuzz
