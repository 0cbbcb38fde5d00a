#include "kernels/elementwise/vector_libm.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace tenon {

void* FindVectorFunction(absl::string_view form, absl::string_view name) {
  static void* const library = dlopen("libmvec.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library == nullptr ? nullptr
                            : dlsym(library, absl::StrCat("_ZGV", form, "_", name).c_str());
}

}  // namespace tenon
