// The dispatch of kernels that move elements of any dtype, objects (graph/object.h) among them.
#ifndef TENON_KERNELS_LAYOUT_VISIT_ELEMENTS_H_
#define TENON_KERNELS_LAYOUT_VISIT_ELEMENTS_H_

#include <utility>

#include "graph/object.h"
#include "kernels/interface/types.h"

namespace tenon {

// VisitStorage, with ObjectPtr for resources and variants.
template <typename F>
bool VisitElements(DType dtype, F&& f) {
  if (HoldsObjects(dtype)) return f.template operator()<ObjectPtr>(), true;
  return VisitStorage(dtype, std::forward<F>(f));
}

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_VISIT_ELEMENTS_H_
