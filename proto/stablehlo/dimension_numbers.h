// Serialized dimension numbers, as attributes of the Xla ops have them (kernels/xla reads them).
#ifndef TENON_PROTO_STABLEHLO_DIMENSION_NUMBERS_H_
#define TENON_PROTO_STABLEHLO_DIMENSION_NUMBERS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace tenon::stablehlo {

// A message of integers by field number: DotDimensionNumbers, ConvolutionDimensionNumbers,
// GatherDimensionNumbers or ScatterDimensionNumbers.
std::string DimensionNumbers(std::initializer_list<std::pair<int, std::vector<int64_t>>> fields);

}  // namespace tenon::stablehlo

#endif  // TENON_PROTO_STABLEHLO_DIMENSION_NUMBERS_H_
