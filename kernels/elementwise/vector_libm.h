// Functions of glibc's vector library, libmvec. It is found at run time, since older glibcs have
// only some of them.
#ifndef TENON_KERNELS_ELEMENTWISE_VECTOR_LIBM_H_
#define TENON_KERNELS_ELEMENTWISE_VECTOR_LIBM_H_

#include <algorithm>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace tenon {

// A function's name as a template argument.
template <size_t n>
struct FunctionName {
  char text[n];
  constexpr FunctionName(const char (&name)[n]) {  // NOLINT: implicit
    std::copy_n(name, n, text);
  }
};

// The function of doubles `name` ("exp") by the name that the ABI of vector functions gives it:
// `form` is the instruction set, the lanes and the operands, such as "dN4v". Null if there is none.
void* FindVectorFunction(absl::string_view form, absl::string_view name);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_VECTOR_LIBM_H_
