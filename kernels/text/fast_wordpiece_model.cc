#include "kernels/text/fast_wordpiece_model.h"

#include <utility>

#include "kernels/text/flat_buffer.h"

namespace tenon {

absl::StatusOr<std::shared_ptr<const FastWordpieceModel>> FastWordpieceModel::Parse(
    absl::Span<const uint8_t> bytes) {
  TENON_ASSIGN_OR_RETURN(const FlatTable table, FlatTable::Root(bytes));
  // Fields by their place in the schema.
  TENON_ASSIGN_OR_RETURN(std::vector<uint32_t> units, table.Vector<uint32_t>(0));
  auto model = std::make_shared<FastWordpieceModel>(Trie(std::move(units)));
  TENON_ASSIGN_OR_RETURN(model->failures, table.Vector<Failure>(1));
  TENON_ASSIGN_OR_RETURN(model->pool, table.Vector<Piece>(2));
  model->indicator_node = table.Scalar<uint32_t>(3, 0);
  model->most_bytes = table.Scalar<int32_t>(4, 0);
  TENON_ASSIGN_OR_RETURN(model->indicator, table.String(5));
  TENON_ASSIGN_OR_RETURN(model->unknown, table.String(6));
  model->unknown_id = table.Scalar<int32_t>(7, 0);
  TENON_ASSIGN_OR_RETURN(model->of_indicator, table.Vector<Piece>(8));
  model->punctuation_node = table.Scalar<uint32_t>(9, 0);
  model->splits_words = table.Scalar<uint8_t>(10, 0) != 0;
  model->can_detokenize = table.Scalar<uint8_t>(11, 0) != 0;
  TENON_ASSIGN_OR_RETURN(model->vocabulary, table.Strings(12));
  TENON_ASSIGN_OR_RETURN(model->continues, table.Vector<uint8_t>(13));

  const size_t nodes = model->trie.size();
  if (nodes == 0 || model->failures.size() < nodes) {
    return InvalidArgument("the wordpiece model has ", nodes, " nodes and ", model->failures.size(),
                           " failure links");
  }
  for (const Failure& f : model->failures) {
    if (f.link != kNone && f.link >= nodes) {
      return InvalidArgument("the wordpiece model has a link to node ", f.link, " of ", nodes);
    }
    if (f.link != kNone && f.pieces != kNone && f.first() + f.count() > model->pool.size()) {
      return InvalidArgument("the wordpiece model has ", model->pool.size(),
                             " pieces, but refers to others");
    }
  }
  return model;
}

size_t FastWordpieceModel::bytes() const {
  return trie.size() * sizeof(uint32_t) + failures.size() * sizeof(Failure) +
         pool.size() * sizeof(Piece) + vocabulary.size() * sizeof(std::string);
}

}  // namespace tenon
