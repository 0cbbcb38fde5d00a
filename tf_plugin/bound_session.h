// The session of a part of a graph, in which weights are constants as long as they keep their
// values.
#ifndef TENON_TF_PLUGIN_BOUND_SESSION_H_
#define TENON_TF_PLUGIN_BOUND_SESSION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "env/mutex.h"
#include "graph/graph.h"
#include "runtime/session/session.h"
#include "tf_plugin/c_api.h"
#include "tf_plugin/process.h"

namespace tenon::plugin {

// A session, and what its inputs are. Immutable.
struct BoundSession {
  std::unique_ptr<Session> session;
  std::vector<int> fed;  // by input of the session: the node's input
  // The other inputs of the node, with the memory of the values that the session has.
  struct Weight {
    int input = 0;
    const void* memory = nullptr;
    Shape shape;
    std::shared_ptr<const void> owner;  // while it is held, TensorFlow leaves the memory alone
  };
  std::vector<Weight> weights;
  int threads = 1;
};

// Makes the sessions of one part. Thread-safe.
class BoundSessions {
 public:
  // `stable`: the graph's inputs that come from a constant or a variable.
  BoundSessions(Process& process, Graph graph, std::vector<int> stable)
      : process_(process),
        graph_(std::move(graph)),
        stable_(std::move(stable)),
        fixed_(graph_.inputs().size(), Fixed::kAllButFirst) {}

  // For these inputs; the caller keeps the handles that are left. Variables that keep changing are
  // bound less and less often, because each session is rewritten anew; one that has other memory in
  // the next call than the others, as if TensorFlow copied it for each reader, is bound no more.
  absl::StatusOr<std::shared_ptr<BoundSession>> For(std::vector<TensorPtr>& inputs, int threads);

 private:
  absl::StatusOr<std::shared_ptr<BoundSession>> Make(std::vector<TensorPtr>& inputs, int threads,
                                                     bool bind)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What TensorFlow knows of the input's shape: nothing, if a function is called with it.
  Shape StatedShape(size_t input) const;
  // The dimensions of an input that a session asks for.
  enum class Fixed { kNone, kLast, kAllButFirst };
  // What the session asks for: that, and dimensions of this tensor. Rules need the width of what
  // layers read, and the number of steps of sequences.
  Shape ShapeFor(size_t input, const Tensor& tensor) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the sessions whose inputs had other shapes, and lets dimensions vary that have changed.
  void CheckShapes(const std::vector<TensorPtr>& inputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the inputs out of stable_ that differ, if others do not. Whether there were such.
  bool LeaveOut(const std::vector<TensorPtr>& inputs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Process& process_;
  const Graph graph_;
  Mutex mutex_;
  std::vector<int> stable_ ABSL_GUARDED_BY(mutex_);
  std::vector<Fixed> fixed_ ABSL_GUARDED_BY(mutex_);  // by input: what has not changed so far
  int64_t calls_of_bound_ ABSL_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<BoundSession> bound_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<BoundSession> free_ ABSL_GUARDED_BY(mutex_);  // its weights are inputs
  int changes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t calls_to_wait_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_BOUND_SESSION_H_
