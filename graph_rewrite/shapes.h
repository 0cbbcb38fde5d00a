// What is known of every tensor while a graph is rewritten: dtype, partial shape (proven, from the
// ops' own shape functions), and whether two tensors have the same shape whatever the inputs are.
// Computed when asked and kept; a node that changes is computed again. Rewrites keep the meaning of
// what they replace, so nodes downstream of a change stay as they are.
#ifndef TENON_GRAPH_REWRITE_SHAPES_H_
#define TENON_GRAPH_REWRITE_SHAPES_H_

#include <array>
#include <vector>

#include "graph/rewriter.h"
#include "graph/tensor.h"
#include "ops/kernel.h"
#include "ops/shape_fn.h"

namespace tenon {

class ShapeInfo {
 public:
  ShapeInfo(const Rewriter& rewriter, const Services& services)
      : rw_(rewriter), services_(services) {}

  const Shape& shape(Endpoint e) { return Spec(e).shape; }
  DType dtype(Endpoint e) { return Spec(e).dtype; }
  // -1 where not known.
  int rank(Endpoint e) { return shape(e).has_rank() ? shape(e).rank() : -1; }

  // Whether the two always have the same shape. Where the partial shapes do not decide it, every
  // unknown dimension of the graph's inputs gets a number of its own, the shape functions (and
  // small integer arithmetic on shapes) carry these through the graph, and the results are
  // compared; this is done for several sets of numbers. So dimensions count as equal if they follow
  // from the same input dimensions by the same arithmetic.
  bool SameShape(Endpoint a, Endpoint b);
  // Whether `a` always has the shape of `b` but for its last dimension, which is `last`.
  bool SameShapeButLast(Endpoint a, Endpoint b, int64_t last);

 private:
  struct Known {
    uint32_t version = 0;
    std::vector<TensorSpec> outputs;
  };
  // One set of numbers for the unknown dimensions.
  struct Probed {
    uint32_t version = 0;
    std::vector<Shape> shapes;
    std::vector<Tensor> values;  // small integers; invalid where not known
  };
  static constexpr int kProbes = 3;

  const TensorSpec& Spec(Endpoint e);
  void Compute(NodeId id);
  void ProbeOne(int set, NodeId id);
  const Shape& ProbedShape(int set, Endpoint e);
  bool Fresh(const Known& k, NodeId id) const { return k.version == rw_.version(id); }

  const Rewriter& rw_;
  const Services& services_;
  std::vector<Known> known_;
  std::array<std::vector<Probed>, kProbes> probed_;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_SHAPES_H_
