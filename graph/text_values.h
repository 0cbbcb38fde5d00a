// Elements and names as the text form writes them (graph/text.h). Internal to graph/.
#ifndef TENON_GRAPH_TEXT_VALUES_H_
#define TENON_GRAPH_TEXT_VALUES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph/tensor.h"

namespace tenon::text {

bool IsBareChar(char c);
// The name, quoted where it must be.
std::string NameText(absl::string_view name);
// In double quotes, with \n \t \" \\ and \xHH for what is not printable ASCII.
std::string Quoted(absl::string_view s);

std::string FloatText(float v);
std::string DoubleText(double v);
// Element i, or "" for a dtype without elements.
std::string ElementText(const Tensor& t, int64_t i);

// A number as ElementText writes it. False: not one.
bool ReadFloat(absl::string_view s, float* v);
bool ReadDouble(absl::string_view s, double* v);
// Stores the element that `s` spells (not strings). False: not one of this dtype.
bool StoreElement(Tensor& t, int64_t i, absl::string_view s);

}  // namespace tenon::text

#endif  // TENON_GRAPH_TEXT_VALUES_H_
