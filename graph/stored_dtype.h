// The integers that hold the elements of quantized dtypes.
#ifndef TENON_GRAPH_STORED_DTYPE_H_
#define TENON_GRAPH_STORED_DTYPE_H_

#include "graph/dtype.h"

namespace tenon {

// The dtype of a quantized dtype's elements, such as int8 for qint8; any other dtype is its own.
inline DType StoredAs(DType dtype) {
  switch (dtype) {
    case DType::kQint8:
      return DType::kInt8;
    case DType::kQuint8:
      return DType::kUint8;
    case DType::kQint16:
      return DType::kInt16;
    case DType::kQuint16:
      return DType::kUint16;
    case DType::kQint32:
      return DType::kInt32;
    default:
      return dtype;
  }
}

}  // namespace tenon

#endif  // TENON_GRAPH_STORED_DTYPE_H_
