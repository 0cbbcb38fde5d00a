// The options that all commands with a model share, and the session made from them.
#ifndef TENON_TOOLS_MODEL_ARGS_H_
#define TENON_TOOLS_MODEL_ARGS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/import/model.h"
#include "runtime/session/session.h"

namespace CLI {
class App;
}

namespace tenon {

struct ModelArgs {
  std::string path;
  std::string signature;
  std::string fetch;               // comma-separated
  std::vector<std::string> feeds;  // inner tensors that are inputs too
  int threads = 0;
  std::string cache_dir;  // empty: TENON_CACHE_DIR
  std::string precision;  // empty: TF_SET_ONEDNN_FPMATH_MODE
  std::vector<std::string> plugins;
  std::string device;         // empty: the CPU
  uint64_t memory_limit = 0;  // bytes; 0: no limit
};

// --plugin, which may be repeated.
void AddPluginArg(CLI::App& app, std::vector<std::string>& plugins);
// MODEL, --signature, --fetch, --plugin, --device.
void AddModelArgs(CLI::App& app, ModelArgs& args);
// --threads, --cache-dir, --memory-limit and --precision, of commands that run the model.
void AddSessionArgs(CLI::App& app, ModelArgs& args);
// --precision alone, of commands that show what rewriting does.
void AddPrecisionArg(CLI::App& app, ModelArgs& args);
std::optional<Precision> PrecisionOf(const ModelArgs& args);

absl::StatusOr<Model> OpenModel(const ModelArgs& args, bool allow_missing_ops = false);

struct OpenedSession {
  std::unique_ptr<Session> session;
  double load_ms = 0;  // from file to session, including rewriting
};
// Here a failed rewrite is an error, because users of the command line want to know.
absl::StatusOr<OpenedSession> OpenSession(const ModelArgs& args);
// After a first run, prints to stderr why the disk cache is not used, or why a batch is not split.
void NoteFallbacks(const Session& session);

// Milliseconds since an arbitrary start.
double NowMs();

}  // namespace tenon

#endif  // TENON_TOOLS_MODEL_ARGS_H_
