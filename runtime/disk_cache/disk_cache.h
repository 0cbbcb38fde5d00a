// The disk cache: keeps what a session made from a model for the next process that loads the same
// model. Second starts skip import, rewriting and packing.
//
// A file is named by a hash of everything that its content depends on: the model's files, how it is
// loaded, the flags that affect rewriting, the CPU, the libraries and this build. Files can be
// deleted at any time; damaged ones are written again.
#ifndef TENON_RUNTIME_DISK_CACHE_DISK_CACHE_H_
#define TENON_RUNTIME_DISK_CACHE_DISK_CACHE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph_rewrite/pipeline.h"
#include "kernels/contraction/packed_weights.h"
#include "proto/import/model.h"
#include "runtime/disk_cache/cache_file.h"
#include "runtime/plan/model_state.h"

namespace tenon {

struct Flags;

struct DiskCacheEntry {
  std::string path;
  std::string key;  // the text of which `path` has the hash
};
absl::StatusOr<DiskCacheEntry> FindDiskCacheEntry(const std::string& folder,
                                                  const std::string& model_path,
                                                  const LoadOptions& load, const Flags& flags,
                                                  Precision precision, int threads);

// A rewritten graph to be written, without its constants; those come from the session once kernels
// have packed them.
class DiskCacheDraft {
 public:
  // Unimplemented if the graph holds values that cannot be written (tables).
  static absl::StatusOr<DiskCacheDraft> Create(const Graph& rewritten,
                                               const ModelInterface& interface);
  // `model` must be made from the same graph.
  absl::StatusOr<CacheContent> Finish(const ModelState& model) const;

 private:
  struct Slot {
    std::string function;  // "": the top graph
    std::string node;
    DType dtype;
    Shape shape;
    Tensor value;  // for values that are small or are not weights
  };
  std::string graph_;
  ModelInterface interface_;
  std::vector<Slot> slots_;
};

// Creates the folder if necessary.
absl::Status WriteDiskCache(const DiskCacheEntry& entry, const DiskCacheDraft& draft,
                            const ModelState& model, int threads);

struct RestoredGraph {
  // Weights without a plain value are tensors without memory: nobody may read them before
  // RestoreForms.
  Graph graph;
  struct Weight {
    std::string function, node;
    size_t index;  // of CacheContent::constants
  };
  std::vector<Weight> weights;
};
// Errors, here and below, mean that the content is damaged.
absl::StatusOr<RestoredGraph> RestoreGraph(const CacheContent& content);
// Gives the constants of a model made from that graph their packed forms. Hold the result until the
// first plan is built.
absl::StatusOr<std::vector<std::shared_ptr<const PackedWeights>>> RestoreForms(
    const CacheContent& content, absl::Span<const RestoredGraph::Weight> weights,
    const ModelState& model, int threads);

}  // namespace tenon

#endif  // TENON_RUNTIME_DISK_CACHE_DISK_CACHE_H_
