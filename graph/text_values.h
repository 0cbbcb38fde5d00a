// Elements and names in the text form (graph/text.h). Internal to graph/.
#ifndef TENON_GRAPH_TEXT_VALUES_H_
#define TENON_GRAPH_TEXT_VALUES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph/tensor.h"

namespace tenon::text {

bool IsBareChar(char c);
// The name, quoted if necessary.
std::string NameText(absl::string_view name);
// The text in double quotes, with \n \t \" \\ and \xHH for characters that are not printable ASCII.
std::string Quoted(absl::string_view s);

std::string FloatText(float v);
std::string DoubleText(double v);
// Element i, or "" for a dtype without elements.
std::string ElementText(const Tensor& t, int64_t i);

// Reads a number as ElementText writes it. Returns false if it is not a number.
bool ReadFloat(absl::string_view s, float* v);
bool ReadDouble(absl::string_view s, double* v);
// Stores the element that `s` spells (not strings). Returns false if `s` does not fit the dtype.
bool StoreElement(Tensor& t, int64_t i, absl::string_view s);

}  // namespace tenon::text

#endif  // TENON_GRAPH_TEXT_VALUES_H_
