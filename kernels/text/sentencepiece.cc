#include "kernels/text/sentencepiece.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "kernels/interface/types.h"
#include "kernels/ragged/nested_splits.h"
#include "kernels/text/rows.h"
#include "kernels/text/sentencepiece_model.h"

namespace tenon {
namespace {

using Model = SentencePieceModel;
using ModelPtr = std::shared_ptr<const Model>;

// The model in input 0.
class Input {
 public:
  static absl::StatusOr<Input> Make(PrepareContext& p) {
    Input in;
    if (Constant* constant = p.constant(0)) {
      TENON_ASSIGN_OR_RETURN(
          std::shared_ptr<const DerivedConstant> form,
          constant->Derive(
              "sentencepiece",
              [](const Tensor& t) -> absl::StatusOr<std::shared_ptr<const DerivedConstant>> {
                return Model::Parse(t.data<std::string>()[0]);
              }));
      in.model_ = std::static_pointer_cast<const Model>(std::move(form));
      p.InputNotRead(0);
    }
    return in;
  }
  absl::StatusOr<ModelPtr> Get(const RunContext& run) const {
    if (model_ != nullptr) return model_;
    return Model::Parse(*run.input<std::string>(0));
  }

 private:
  ModelPtr model_;
};

SentencePieceOptions OptionsAt(const RunContext& run, int first) {
  return {*run.input<bool>(first), *run.input<bool>(first + 1), *run.input<bool>(first + 2)};
}

struct Rows {
  std::vector<SentencePiece> pieces;
  std::vector<int64_t> counts;
};

absl::Status AddRow(const Model& model, const std::string& text,
                    const SentencePieceOptions& options, Rows& rows) {
  const int64_t before = std::ssize(rows.pieces);
  const absl::Status status = model.Encode(text, options, rows.pieces);
  rows.counts.push_back(std::ssize(rows.pieces) - before);
  return status;
}

absl::Status AddBest(const Model& model, const std::string& text, int count,
                     const SentencePieceOptions& options, Rows& rows) {
  std::vector<std::vector<SentencePiece>> results;
  TENON_RETURN_IF_ERROR(model.EncodeBest(text, count, options, results));
  for (std::vector<SentencePiece>& pieces : results) {
    rows.counts.push_back(std::ssize(pieces));
    std::move(pieces.begin(), pieces.end(), std::back_inserter(rows.pieces));
  }
  return absl::OkStatus();
}

// Of nbest_size.
absl::Status CheckSizes(const int32_t* values, const Shape& shape, bool best) {
  if (best && shape.rank() != 0) {
    return InvalidArgument("When return_nbest is true nbest_size must be a scalar; got ",
                           shape.ToString(), " instead");
  }
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    if (best && values[i] < 1) {
      return InvalidArgument("When return_nbest is true nbest_size must be >= 1; got ", values[i]);
    }
    if (!best && values[i] != 0 && values[i] != 1) {
      return Unimplemented("random segmentation (nbest_size ", values[i], ")");
    }
  }
  return absl::OkStatus();
}

absl::Status WritePieces(RunContext& run, std::vector<Rows>& parts, bool as_strings,
                         bool with_offsets) {
  int64_t count = 0;
  for (const Rows& part : parts) count += std::ssize(part.pieces);
  TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, Shape({count})));
  std::string* text = static_cast<std::string*>(memory);
  int32_t* id = static_cast<int32_t*>(memory);
  int64_t *begin = nullptr, *end = nullptr;
  if (with_offsets) {
    TENON_ASSIGN_OR_RETURN(memory, run.AllocateOutput(2, Shape({count})));
    begin = static_cast<int64_t*>(memory);
    TENON_ASSIGN_OR_RETURN(memory, run.AllocateOutput(3, Shape({count})));
    end = static_cast<int64_t*>(memory);
  }
  for (Rows& part : parts) {
    for (SentencePiece& piece : part.pieces) {
      if (as_strings) {
        *text++ = std::move(piece.piece);
      } else {
        *id++ = piece.id;
      }
      if (!with_offsets) continue;
      *begin++ = piece.begin;
      *end++ = piece.end;
    }
  }
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<std::vector<std::string>> PiecesAt(const Model& model, const T* values, int64_t n) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::vector<std::string>(values, values + n);
  } else {
    std::vector<std::string> pieces;
    for (int64_t i = 0; i < n; ++i) {
      if (values[i] < 0 || values[i] >= model.size()) {
        return absl::OutOfRangeError(absl::StrCat("Invalid id: ", values[i]));
      }
      pieces.push_back(model.PieceOf(values[i]));
    }
    return pieces;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceTokenizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Input input, Input::Make(p));
  const size_t n = static_cast<size_t>(p.input_shape(1).num_elements());
  const Shape sizes = p.input_shape(2);
  const int threads = p.services().threads;
  const bool as_strings = p.output_dtype(0) == DType::kString, offsets = p.num_outputs() > 2;
  const bool best = p.attrs().Bool("return_nbest", false);
  const DType splits_type = p.output_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckSizes(run.input<int32_t>(2), sizes, best));
    TENON_ASSIGN_OR_RETURN(const ModelPtr model, input.Get(run));
    const SentencePieceOptions options = OptionsAt(run, 4);
    const absl::Span<const std::string> texts(run.input<std::string>(1), n);
    const int count = best ? *run.input<int32_t>(2) : 1;
    TENON_ASSIGN_OR_RETURN(std::vector<Rows> parts,
                           InParts<Rows>(threads, std::ssize(texts), count * RowCost(texts, 40),
                                         [&](Rows& part, int64_t i) {
                                           const std::string& text = texts[static_cast<size_t>(i)];
                                           return best ? AddBest(*model, text, count, options, part)
                                                       : AddRow(*model, text, options, part);
                                         }));
    int64_t rows = 0;
    for (const Rows& part : parts) rows += std::ssize(part.counts);
    void* splits = run.output(1);
    if (best) {
      TENON_ASSIGN_OR_RETURN(splits, run.AllocateOutput(1, Shape({rows + 1})));
    }
    VisitTypes(TypeList<int32_t, int64_t>{}, splits_type,
               [&]<typename I>() { WriteSplits(parts, &Rows::counts, static_cast<I*>(splits)); });
    return WritePieces(run, parts, as_strings, offsets);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceDetokenizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Input input, Input::Make(p));
  const int64_t n = p.input_shape(1).num_elements(), size = p.input_shape(2).num_elements();
  const DType splits_type = p.input_dtype(2);
  return DispatchType(TypeList<int32_t, std::string>{}, p.input_dtype(1), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) -> absl::Status {
      TENON_ASSIGN_OR_RETURN(const ModelPtr model, input.Get(run));
      TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                             ReadSplits(run, splits_type, {size}, n, false, 2));
      const SentencePieceOptions options = OptionsAt(run, 3);
      const std::vector<int64_t>& rows = nested[0];
      for (size_t r = 0; r + 1 < rows.size(); ++r) {
        TENON_ASSIGN_OR_RETURN(std::vector<std::string> pieces,
                               PiecesAt(*model, run.input<T>(1) + rows[r], rows[r + 1] - rows[r]));
        // TensorFlow Text leaves all texts empty if there are no pieces at all.
        if (n == 0) continue;
        TENON_ASSIGN_OR_RETURN(run.output<std::string>(0)[r],
                               model->Decode(std::move(pieces), options));
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceVocabSizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Input input, Input::Make(p));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const ModelPtr model, input.Get(run));
    *run.output<int32_t>(0) = model->size();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceIdToStringKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Input input, Input::Make(p));
  const int64_t n = p.input_shape(1).num_elements();
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const ModelPtr model, input.Get(run));
    for (int64_t i = 0; i < n; ++i) {
      const int32_t id = run.input<int32_t>(1)[i];
      if (id < 0 || id >= model->size()) {
        return absl::OutOfRangeError(absl::StrCat("Invalid id: ", id));
      }
      run.output<std::string>(0)[i] = model->PieceOf(id);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> SentencePieceStringToIdKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const Input input, Input::Make(p));
  const int64_t n = p.input_shape(1).num_elements();
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const ModelPtr model, input.Get(run));
    for (int64_t i = 0; i < n; ++i) {
      run.output<int32_t>(0)[i] = model->IdOf(run.input<std::string>(1)[i]);
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
