// Reads and writes NumPy's .npy format, versions 1 to 3: the header, and the dtypes that Tenon also
// has.
//
//   TENON_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(bytes));
//
// Supported: bool, all integers, half, float, double, complex, `S` and `U` strings (UTF-8 in
// memory). bfloat16 is read and written as ml_dtypes does, as a two-byte void ('V2'). Strings are
// written as `S`; NumPy drops NULs at the end of each string.
#ifndef TENON_GRAPH_NPZ_NPY_H_
#define TENON_GRAPH_NPZ_NPY_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/tensor.h"

namespace tenon {

struct NpyHeader {
  DType dtype = DType::kInvalid;
  Shape shape;
  bool fortran_order = false;
  bool big_endian = false;
  char kind = 0;         // as in NumPy: b i u f c V S U
  size_t item_size = 0;  // bytes of one element in the file
};

// Reads the next `size` bytes of the file, or returns an error if they are missing.
using NpyRead = std::function<absl::Status(void* to, size_t size)>;

// Reads a whole .npy of `file_size` bytes. Compares the size with the header before allocating
// anything. InvalidArgument if the file is damaged; Unimplemented for dtypes without a counterpart
// (objects, records, dates).
absl::StatusOr<Tensor> ReadNpy(size_t file_size, const NpyRead& read);

// The header's dictionary: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
absl::StatusOr<NpyHeader> ParseNpyDictionary(absl::string_view text);

// A .npy file to write: the bytes before the elements, and the elements (which may view `t`).
struct NpyFile {
  std::string header;
  Tensor data;  // only raw() and bytes() matter
};
absl::StatusOr<NpyFile> FormatNpy(const Tensor& t);

}  // namespace tenon

#endif  // TENON_GRAPH_NPZ_NPY_H_
