#include "tools/serve/thread_choice.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/serve/log.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShortMs = 1;      // shorter runs gain less from threads than their barriers cost
constexpr double kLeastGain = 1.3;  // of all threads over one
constexpr int kRuns = 5;
constexpr auto kMostTime = std::chrono::milliseconds(500);  // no further run is begun after it

// The fastest of a few runs, in ms: others may use the CPUs meanwhile. The first one, which plans
// the run, does not count.
absl::StatusOr<double> FastestRun(Servable& servable) {
  Runnable& runnable = *servable.Default();
  const auto inputs = ZeroInputs(runnable.signature);
  if (!inputs.ok()) return inputs.status();
  double fastest = 1e30;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i <= kRuns && (i < 2 || Clock::now() - begin < kMostTime); ++i) {
    const Clock::time_point start = Clock::now();
    const auto outputs = servable.Run(runnable, *inputs, {}, std::chrono::nanoseconds(0));
    if (!outputs.ok()) return outputs.status();
    const std::chrono::duration<double, std::milli> took = Clock::now() - start;
    if (i > 0) fastest = std::min(fastest, took.count());
  }
  return fastest;
}

void LogChoice(const Servable& servable, int cpus, const std::string& why) {
  LogInfo("threads", {{"model", servable.name()},
                      {"version", absl::StrCat(servable.version())},
                      {"streams", absl::StrCat(std::max(1, cpus / servable.threads()))},
                      {"threads", absl::StrCat(servable.threads())},
                      {"reason", why}});
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> ZeroInputs(const Signature& signature) {
  std::vector<std::pair<std::string, Tensor>> inputs;
  for (const TensorSpec& spec : signature.inputs) {
    if (spec.optional) continue;
    if (!spec.dims.has_value() || ElementBytes(spec.dtype) == 0) {
      return absl::UnimplementedError(
          absl::StrCat("input ", spec.name, " is a string, or its shape is not known"));
    }
    std::vector<int64_t> dims = *spec.dims;
    for (int64_t& dim : dims) dim = dim < 0 ? 1 : dim;
    try {
      Tensor zeros = Tensor::Create(spec.dtype, dims);
      if (zeros.bytes() > 0) std::memset(tenon_tensor_data(zeros.get()), 0, zeros.bytes());
      inputs.emplace_back(spec.name, std::move(zeros));
    } catch (const Error& error) {
      return ToStatus(error);
    }
  }
  return inputs;
}

absl::StatusOr<std::shared_ptr<Servable>> LoadWithMeasuredThreads(const std::string& name,
                                                                  int64_t version,
                                                                  const std::string& path,
                                                                  LoadOptions options, int cpus) {
  options.threads = 1;
  auto one = Servable::Load(name, version, path, options);
  if (!one.ok() || cpus <= 1) return one;
  const auto with_one = FastestRun(**one);
  if (with_one.ok() && *with_one < kShortMs) {
    LogChoice(**one, cpus, absl::StrFormat("a run takes %.3f ms", *with_one));
    return one;
  }
  options.threads = cpus;
  if (!with_one.ok()) one->reset();
  auto all = Servable::Load(name, version, path, options);
  if (!all.ok()) return all;
  if (!with_one.ok()) {
    LogChoice(**all, cpus, absl::StrCat("not measured: ", with_one.status().message()));
    return all;
  }
  const auto with_all = FastestRun(**all);
  const bool gains = with_all.ok() && *with_all * kLeastGain < *with_one;
  auto& chosen = gains ? all : one;
  LogChoice(**chosen, cpus,
            absl::StrFormat("a run takes %.3f ms with 1 thread, %.3f with %d", *with_one,
                            with_all.ok() ? *with_all : 0.0, cpus));
  (gains ? one : all)->reset();
  malloc_trim(0);
  return chosen;
}

}  // namespace tenon::serve
