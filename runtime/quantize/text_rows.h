// Rows of tokens that a language model is evaluated on, and its inputs for them.
#ifndef TENON_RUNTIME_QUANTIZE_TEXT_ROWS_H_
#define TENON_RUNTIME_QUANTIZE_TEXT_ROWS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/session/session.h"

namespace tenon {

// Some rows, for one run.
struct TextBatch {
  std::vector<NamedTensor> inputs;
  Shape shape;                   // [rows, length]
  std::vector<int64_t> ids;      // of this shape
  std::vector<int64_t> lengths;  // of each row, the number of tokens that count: the first ones
};

struct TextRows {
  int64_t num_batches = 0;
  std::function<absl::StatusOr<TextBatch>(int64_t)> batch;
};

// From arrays that have the model's inputs, with texts along the first axis. `tokens` names the one
// with token ids [texts, length]; empty: the only such array of integers. `batch` as in Samples.
absl::StatusOr<TextRows> RowsOfArrays(std::vector<NamedTensor> arrays,
                                      const std::vector<TensorInfo>& inputs,
                                      const std::string& tokens, int64_t batch);

struct TextRowOptions {
  std::string tokens = "";  // the input with token ids [texts, length]; empty: by its usual name
  int64_t length = 0;       // tokens in a row; 0: what the model's inputs fix, or 512
  int64_t batch = 0;        // rows in a run; 0: what they fix, or up to 512 tokens in up to 8 rows
};

// From one text, cut into rows. Its last row is shorter: a run of its own, or, if the model fixes
// the length, a row padded with zeros that the mask hides and that do not count. A single token at
// the end is left out, since it predicts nothing. Inputs named as usual (token_inputs.h) get
// positions from 0, masks of ones, token types of zeros. InvalidArgument, naming the input, if
// there is another one that is not optional, or if the sizes do not fit. The ids must live as long
// as the rows.
absl::StatusOr<TextRows> RowsOfText(absl::Span<const int64_t> ids,
                                    const std::vector<TensorInfo>& inputs,
                                    const TextRowOptions& options);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_TEXT_ROWS_H_
