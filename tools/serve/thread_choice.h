// How many threads a run of a model should have, found out by running it.
#ifndef TENON_TOOLS_SERVE_THREAD_CHOICE_H_
#define TENON_TOOLS_SERVE_THREAD_CHOICE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/serve/servable.h"

namespace tenon::serve {

// Zeros for every input of a signature that is not optional, with 1 for free dimensions. Error for
// strings and for shapes of unknown rank.
absl::StatusOr<std::vector<std::pair<std::string, Tensor>>> ZeroInputs(const Signature& signature);

// Loads a model with one thread a run, or with `cpus` threads if that pays: a run on zeros with one
// thread takes at least a millisecond, and with all of them less than 1/1.3 of that. Small models
// therefore get one thread, and as many of their runs go on at a time as there are CPUs. A model
// that cannot be run on zeros gets all CPUs. Logs the choice with its times.
absl::StatusOr<std::shared_ptr<Servable>> LoadWithMeasuredThreads(const std::string& name,
                                                                  int64_t version,
                                                                  const std::string& path,
                                                                  LoadOptions options, int cpus);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_THREAD_CHOICE_H_
