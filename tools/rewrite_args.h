// A model, loaded and rewritten for inspection: the common part of dump, explain and export.
#ifndef TENON_TOOLS_REWRITE_ARGS_H_
#define TENON_TOOLS_REWRITE_ARGS_H_

#include "absl/status/statusor.h"
#include "env/flags.h"
#include "graph_rewrite/pipeline.h"
#include "kernels/interface/kernel.h"
#include "tools/model_args.h"

namespace tenon {

// The flags from the environment, and the services that rewriting needs.
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

// The phase of that name; InvalidArgument lists all phases.
absl::StatusOr<Phase> PhaseFromName(const std::string& name);

// For `dump --stats`: rules and how often each fired, ops before and after, and what is left
// unaccelerated, by op and reason. The Markdown form omits figures that differ from run to run.
enum class StatsFormat { kText, kMarkdown };
std::string StatsText(const Graph& graph, const RewriteReport& report, StatsFormat format);

}  // namespace tenon

#endif  // TENON_TOOLS_REWRITE_ARGS_H_
