// RougeL, MaxSpanningTree: measures of texts, and trees over their tokens.
#include "kernels/text/rouge.h"
#include "kernels/text/spanning_tree.h"
#include "ops/op.h"
#include "ops/text/row_shapes.h"

namespace tenon {
namespace {

absl::Status MeasuresShape(ShapeContext& c) {
  for (int i = 0; i < 4; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(4, 0));
  TENON_ASSIGN_OR_RETURN(const Shape texts, RowsOf(c.input(1)));
  TENON_ASSIGN_OR_RETURN(const Shape references, RowsOf(c.input(3)));
  if (!texts.CompatibleWith(references)) {
    return InvalidArgument("there are ", texts.dim(0), " texts and ", references.dim(0),
                           " references");
  }
  for (int i = 0; i < 3; ++i) c.set_output(i, texts.IsComplete() ? texts : references);
  return absl::OkStatus();
}

absl::Status TreesShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 3));
  const Shape& scores = c.input(1);
  if (scores.IsComplete() && scores.dim(1) != scores.dim(2)) {
    return InvalidArgument("scores must be [batch, nodes, nodes], got ", scores.ToString());
  }
  if (scores.IsComplete() && c.input(0).IsComplete() && c.input(0).dim(0) != scores.dim(0)) {
    return InvalidArgument("there are ", c.input(0).dim(0), " numbers of nodes for ", scores.dim(0),
                           " graphs");
  }
  const int64_t batch = scores.has_rank() ? scores.dim(0) : -1;
  c.set_output(0, Shape({batch}));
  c.set_output(1, Shape({batch, scores.has_rank() ? scores.dim(1) : -1}));
  return absl::OkStatus();
}

const OpRegistration rouge_l({
    .name = "RougeL",
    .inputs = "hyp_values: Tvalues, hyp_splits: Tsplits, ref_values: Tvalues, "
              "ref_splits: Tsplits, alpha: float",
    .outputs = "f_measure: float, p_measure: float, r_measure: float",
    .attrs = "Tsplits: type = int64; Tvalues: type",
    .types = "Tsplits: int32 int64; Tvalues: int32 int64 string",
    .shape = MeasuresShape,
    .reference = RougeLKernel,
});

const OpRegistration max_spanning_tree({
    .name = "MaxSpanningTree",
    .inputs = "num_nodes: int32, scores: T",
    .outputs = "max_scores: T, argmax_sources: int32",
    .attrs = "T: type; forest: bool = false",
    .types = "T: int32 float double",
    .shape = TreesShape,
    .reference = MaxSpanningTreeKernel,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
