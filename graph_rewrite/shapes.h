// What is known of every tensor during rewriting: dtype, partial shape (proven, from the ops' own
// shape functions), and whether two tensors have the same shape for all inputs. It is computed on
// demand and kept; a node that changes is computed again. Rewrites preserve the meaning of what
// they replace, so nodes downstream of a change keep their results.
#ifndef TENON_GRAPH_REWRITE_SHAPES_H_
#define TENON_GRAPH_REWRITE_SHAPES_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "graph/functions.h"
#include "graph/rewriter.h"
#include "graph/tensor.h"
#include "graph/tensor_spec.h"
#include "kernels/interface/kernel.h"

namespace tenon {

class ShapeInfo {
 public:
  // `outer`: the library of the graph that has the rewriter's graph as a function; null: none has.
  ShapeInfo(const Rewriter& rewriter, const Services& services,
            const FunctionLibrary* outer = nullptr)
      : rw_(rewriter), services_(services), outer_(outer) {}

  // The functions that nodes of the graph call: its own library, or else the outer one.
  const FunctionLibrary& functions() const {
    return outer_ == nullptr ? rw_.graph().functions() : LibraryOf(rw_.graph(), *outer_);
  }

  const Shape& shape(Endpoint e) { return Spec(e).shape; }
  DType dtype(Endpoint e) { return Spec(e).dtype; }
  // -1 if not known.
  int rank(Endpoint e) { return shape(e).has_rank() ? shape(e).rank() : -1; }

  // Whether the node's shape function accepts what is known of its inputs. A rule that would remove
  // a node which fails must leave it, so that it fails.
  bool Accepts(NodeId id) {
    Spec({id, 0});
    return rw_.Has(id) && !known_[static_cast<size_t>(id)].refused;
  }

  // Whether the shapes are equal for all input shapes with which the graph can run. If the partial
  // shapes do not decide it, the unknown dimensions of the inputs get numbers, shape functions (and
  // small integer arithmetic on shapes) propagate these through the graph, and the results are
  // compared. This is done for several assignments: the same number for the same axis of every
  // input, different ones, small and large ones, and ones in which dimensions are 1, which
  // broadcasting treats specially, or 0. Assignments with which the graph cannot run do not count.
  bool SameShape(Endpoint a, Endpoint b);
  // Whether nothing contradicts equality: it is proven, or ranks agree and dimensions are equal or
  // both unknown.
  bool AlikeShape(Endpoint a, Endpoint b);
  // Whether `a` has the shape of `b` except for its last dimension, which is `last`.
  bool SameShapeButLast(Endpoint a, Endpoint b, int64_t last);
  // Whether `a` has the shape of `b`, each dimension multiplied by that of `times`.
  bool IsMultiple(Endpoint a, Endpoint b, absl::Span<const int64_t> times);
  // Of two tensors of which one is a Reshape of the other: whether `joined` has the shape of
  // `split`, but for one dimension, `axis`, in the place of the dimensions `axis` and `axis` + 1.
  bool Joins(Endpoint split, Endpoint joined, int axis);
  // Whether `a` broadcasts to the shape of `b`.
  bool BroadcastsTo(Endpoint a, Endpoint b);

  // A rule has changed what a node gives, though perhaps not the node itself: only its inputs.
  void Forget(NodeId id);

  // A rule has put nodes of known shape in the place of one whose shape was unknown: from now on,
  // every sweep begins with Refresh, which infers all shapes again.
  void ExpectMore() { expects_more_ = true; }
  void Refresh() {
    if (!expects_more_) return;
    known_.clear();
    sets_.clear();
  }

 private:
  struct Known {
    uint32_t version = 0;
    bool refused = false;
    std::vector<TensorSpec> outputs;
  };
  // Numbers for the unknown dimensions.
  struct Assignment {
    enum Kind {
      kByAxis,
      kAllDifferent,
      kDataIsOne,
      kSmall,
      kAxisIsLarge,
      kBatchIsZero,
      kOneIsOne,
      kOthersAreOne
    } kind = kByAxis;
    NodeId input = kNoNode;  // of kOneIsOne and kOthersAreOne
    int axis = 0;            // of these and kAxisIsLarge
    // If an op refuses the numbers: whether its results get new ones, or the assignment is
    // abandoned.
    bool fresh_on_error = false;
  };
  struct Probed {
    uint32_t version = 0;
    bool impossible = false;
    std::vector<Shape> shapes;
    std::vector<Tensor> values;  // small integers; invalid if not known
    // Of the first set: the inputs of unknown shape that it depends on, by their position in
    // probed_inputs_.
    absl::InlinedVector<uint64_t, 1> inputs;
  };
  struct Set {
    Assignment assignment;
    std::vector<Probed> nodes;
  };

  // Whether holds(shape of a, shape of b) for every assignment with which the graph can run;
  // `when_empty`: also for no images.
  template <typename Holds>
  bool Always(Endpoint a, Endpoint b, Holds holds, bool when_empty = true);
  void MakeSets();
  int64_t NumberFor(int set, NodeId node, int port, int axis) const;
  const TensorSpec& Spec(Endpoint e);
  void Compute(NodeId id);
  void SetGivenDims(const Node& n, Shape& out);
  void ProbeOne(int set, NodeId id);
  // Which inputs the node depends on, in the first set.
  void FindInputs(NodeId id);
  bool DependsOn(Endpoint e, NodeId input) const;
  // Null if the assignment is impossible there, or the rank is not known.
  const Shape* ProbedShape(int set, Endpoint e, bool* impossible);
  bool Fresh(const Known& k, NodeId id) const { return k.version == rw_.version(id); }

  bool expects_more_ = false;
  const Rewriter& rw_;
  const Services& services_;
  const FunctionLibrary* outer_;
  std::vector<NodeId> probed_inputs_;
  bool all_have_sets_ = true;        // each unknown dimension of them
  int64_t call_budget_ = 2'000'000;  // nodes of functions to look at
  std::vector<Known> known_;
  std::vector<Set> sets_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_SHAPES_H_
