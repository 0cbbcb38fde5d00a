// NumPy's .npy format, versions 1 to 3: the header, and the dtypes that Tenon shares with it.
//
//   TENON_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(bytes));
//
// bool, all integers, half, float, double, complex, `S` and `U` strings (UTF-8 in memory). bfloat16
// is a two-byte void there ('V2'), as ml_dtypes writes it: it is read and written so. Strings are
// written as `S`: NumPy drops NULs at the end of each.
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

// Gives the next `size` bytes of the file, or an error where they are not there.
using NpyRead = std::function<absl::Status(void* to, size_t size)>;

// Reads a whole .npy of `file_size` bytes. The size is compared with what the header promises
// before anything is allocated. InvalidArgument where the file is damaged, Unimplemented for dtypes
// that have no counterpart (objects, records, dates).
absl::StatusOr<Tensor> ReadNpy(size_t file_size, const NpyRead& read);

// The header's dictionary: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
absl::StatusOr<NpyHeader> ParseNpyDictionary(absl::string_view text);

// A .npy file: what stands before the elements, and the elements (which may view `t`).
struct NpyFile {
  std::string header;
  Tensor data;  // bytes: raw() and bytes()
};
absl::StatusOr<NpyFile> FormatNpy(const Tensor& t);

}  // namespace tenon

#endif  // TENON_GRAPH_NPZ_NPY_H_
