#include "proto/import/implementations.h"

#include <algorithm>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

const tf::AttrValue* Find(const tf::FunctionDef& function, absl::string_view attr) {
  for (const tf::AttrEntry& entry : function.attr()) {
    if (entry.key() == attr) return &entry.value();
  }
  return nullptr;
}

// The value of a text attribute, or "".
std::string Text(const tf::FunctionDef& function, absl::string_view attr) {
  const tf::AttrValue* value = Find(function, attr);
  return value == nullptr ? "" : value->s();
}

bool PrefersCpus(const tf::FunctionDef& function) {
  return Text(function, "api_preferred_device") == "CPU";
}

// Gradients come with a function that keeps more results, and one for the way back. Only functions
// of one kind are exchanged.
bool SameKind(const tf::FunctionDef& a, const tf::FunctionDef& b) {
  for (const char* attr : {"forward_function_name", "backward_function_name"}) {
    if ((Find(a, attr) != nullptr) != (Find(b, attr) != nullptr)) return false;
  }
  return true;
}

bool SameArguments(const google::protobuf::RepeatedPtrField<tf::OpDef::ArgDef>& a,
                   const google::protobuf::RepeatedPtrField<tf::OpDef::ArgDef>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const tf::OpDef::ArgDef& x, const tf::OpDef::ArgDef& y) {
                      return x.type() == y.type() && x.type_attr() == y.type_attr() &&
                             x.number_attr() == y.number_attr() &&
                             x.type_list_attr() == y.type_list_attr();
                    });
}

}  // namespace

HashMap<std::string, std::string> CpuImplementations(const tf::FunctionDefLibrary& library) {
  HashMap<std::string, std::vector<const tf::FunctionDef*>> for_cpus;  // by interface
  for (const tf::FunctionDef& function : library.function()) {
    const std::string interface = Text(function, "api_implements");
    if (!interface.empty() && PrefersCpus(function)) for_cpus[interface].push_back(&function);
  }
  HashMap<std::string, std::string> chosen;
  if (for_cpus.empty()) return chosen;
  for (const tf::FunctionDef& function : library.function()) {
    const auto found = for_cpus.find(Text(function, "api_implements"));
    if (found == for_cpus.end() || PrefersCpus(function)) continue;
    for (const tf::FunctionDef* other : found->second) {
      if (SameKind(function, *other) &&
          SameArguments(function.signature().input_arg(), other->signature().input_arg()) &&
          SameArguments(function.signature().output_arg(), other->signature().output_arg())) {
        chosen[function.signature().name()] = other->signature().name();
        break;
      }
    }
  }
  return chosen;
}

}  // namespace tenon
