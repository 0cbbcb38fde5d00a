// The cache on disk: what a session made of a model, kept for the next process that loads the same
// one. Second starts skip import, rewriting and packing.
//
// A file is named after everything that its content depends on: the model's files, how it is
// loaded, the flags that change rewriting, the CPU, the libraries and this build. Files can be
// deleted at any time; damaged ones are written anew.
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
  std::string key;  // everything that `path` is the hash of, in words
};
absl::StatusOr<DiskCacheEntry> FindDiskCacheEntry(const std::string& folder,
                                                  const std::string& model_path,
                                                  const LoadOptions& load, const Flags& flags,
                                                  Precision precision, int threads);

// What will be written of a rewritten graph, but for its constants: those are taken from the
// session when kernels have packed them.
class DiskCacheDraft {
 public:
  // Unimplemented where the graph holds values that cannot be written (tables).
  static absl::StatusOr<DiskCacheDraft> Create(const Graph& rewritten);
  // `model` was made from the same graph.
  absl::StatusOr<CacheContent> Finish(const ModelState& model) const;

 private:
  struct Slot {
    std::string function;  // "": the top graph
    std::string node;
    DType dtype;
    Shape shape;
    Tensor value;  // of what is no weight, or small
  };
  std::string graph_;
  std::vector<Slot> slots_;
};

// The folder is made where there is none.
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
// Gives the constants of a model made from that graph their packed forms. Hold what it returns
// until the first plan is built.
absl::StatusOr<std::vector<std::shared_ptr<const PackedWeights>>> RestoreForms(
    const CacheContent& content, absl::Span<const RestoredGraph::Weight> weights,
    const ModelState& model, int threads);

}  // namespace tenon

#endif  // TENON_RUNTIME_DISK_CACHE_DISK_CACHE_H_
