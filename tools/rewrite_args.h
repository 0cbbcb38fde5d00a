// A model, loaded and rewritten for looking at: what dump, explain and export share.
#ifndef TENON_TOOLS_REWRITE_ARGS_H_
#define TENON_TOOLS_REWRITE_ARGS_H_

#include "absl/status/statusor.h"
#include "env/flags.h"
#include "graph_rewrite/pipeline.h"
#include "kernels/interface/kernel.h"
#include "tools/model_args.h"

namespace tenon {

// Flags from the environment and the services that rewriting asks for.
class RewriteServices {
 public:
  static absl::StatusOr<std::unique_ptr<RewriteServices>> Create();
  const Flags& flags() const { return flags_; }
  RewriteOptions options() const {
    RewriteOptions options;
    options.services = &services_;
    return options;
  }

 private:
  Flags flags_;
  Services services_;
};

// The phase of that name, or InvalidArgument listing all.
absl::StatusOr<Phase> PhaseFromName(const std::string& name);

// For `dump --stats`: rules and how often each fired, ops before and after, what is left that is
// not accelerated. In Markdown without what differs from run to run.
enum class StatsFormat { kText, kMarkdown };
std::string StatsText(const Graph& graph, const RewriteReport& report, StatsFormat format);

}  // namespace tenon

#endif  // TENON_TOOLS_REWRITE_ARGS_H_
