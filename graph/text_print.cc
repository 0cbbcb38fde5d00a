#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "graph/text.h"
#include "graph/text_values.h"

namespace tenon {
namespace {

using text::NameText;
using text::Quoted;

class AttrPrinter {
 public:
  AttrPrinter(const PrintOptions& options, std::string& out) : options_(options), out_(out) {}

  void operator()(std::monostate) { out_ += "none"; }
  void operator()(int64_t v) { absl::StrAppend(&out_, v); }
  void operator()(bool v) { out_ += v ? "true" : "false"; }
  void operator()(const std::string& v) { out_ += Quoted(v); }
  void operator()(float v) {
    std::string s = text::FloatText(v);
    // A float must not be read back as an int.
    if (s.find_first_not_of("-0123456789") == std::string::npos) s += ".0";
    out_ += s;
  }
  void operator()(DType v) {
    if (IsValid(v) || v == DType::kInvalid) {
      out_ += Name(v);
    } else {
      absl::StrAppend(&out_, "dtype:", static_cast<int>(v));
    }
  }
  void operator()(const Shape& v) {
    if (!v.has_rank()) {
      out_ += "<*>";
      return;
    }
    out_ += '<';
    for (int i = 0; i < v.rank(); ++i) {
      if (i > 0) out_ += ',';
      if (v.dim(i) < 0) {
        out_ += '?';
      } else {
        absl::StrAppend(&out_, v.dim(i));
      }
    }
    out_ += '>';
  }
  void operator()(const Tensor& v) {
    if (!v.valid()) {
      out_ += "invalid<0>{}";
      return;
    }
    out_ += Name(v.dtype());
    (*this)(v.shape());
    const int64_t n = v.num_elements();
    if (options_.max_elements >= 0 && n > options_.max_elements) {
      out_ += "{...}";
      return;
    }
    out_ += '{';
    if (n > 1 && AllSame(v)) {
      absl::StrAppend(&out_, "= ", text::ElementText(v, 0));
    } else {
      for (int64_t i = 0; i < n; ++i) {
        if (i > 0) out_ += ", ";
        out_ += text::ElementText(v, i);
      }
    }
    out_ += '}';
  }
  void operator()(const FuncRef& v) {
    absl::StrAppend(&out_, "@", NameText(v.name));
    if (v.attrs == nullptr || v.attrs->empty()) return;
    out_ += '{';
    Attrs(*v.attrs);
    out_ += '}';
  }
  template <typename T>
  void operator()(const std::vector<T>& v) {
    if (v.empty()) {
      absl::StrAppend(&out_, "[", EmptyKind<T>(), "]");
      return;
    }
    out_ += '[';
    for (size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out_ += ", ";
      const T& item = v[i];
      (*this)(item);
    }
    out_ += ']';
  }

  void Attrs(const AttrMap& attrs) {
    bool first = true;
    for (const auto& [name, value] : attrs) {
      if (!first) out_ += ", ";
      first = false;
      absl::StrAppend(&out_, NameText(name), "=");
      std::visit(*this, value.variant());
    }
  }

 private:
  template <typename T>
  static const char* EmptyKind() {
    if constexpr (std::is_same_v<T, float>) return ":float";
    if constexpr (std::is_same_v<T, bool>) return ":bool";
    if constexpr (std::is_same_v<T, std::string>) return ":string";
    if constexpr (std::is_same_v<T, DType>) return ":type";
    if constexpr (std::is_same_v<T, Shape>) return ":shape";
    if constexpr (std::is_same_v<T, Tensor>) return ":tensor";
    if constexpr (std::is_same_v<T, FuncRef>) return ":func";
    return "";
  }

  static bool AllSame(const Tensor& t) {
    if (t.dtype() == DType::kString) return false;
    const size_t size = SizeOf(t.dtype());
    const char* p = t.data<char>();
    return std::memcmp(p, p + size, t.bytes() - size) == 0;
  }

  const PrintOptions& options_;
  std::string& out_;
};

std::string EndpointText(const Graph& graph, Endpoint e) {
  if (!graph.Has(e.node)) return "%\"<none>\"";
  std::string s = absl::StrCat("%", NameText(graph.node(e.node).name));
  if (e.port != 0) absl::StrAppend(&s, ":", e.port);
  return s;
}

void PrintTo(const Graph& graph, const PrintOptions& options, int depth, std::string& out) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  for (const GraphInput& in : graph.inputs()) {
    absl::StrAppend(&out, indent, "in ", NameText(in.name), " = ",
                    EndpointText(graph, {in.node, 0}), "\n");
  }
  auto order = graph.TopologicalOrder();
  for (NodeId id : order.ok() ? *order : graph.NodeIds()) {
    absl::StrAppend(&out, indent, PrintNode(graph, graph.node(id), options), "\n");
  }
  for (const GraphOutput& o : graph.outputs()) {
    absl::StrAppend(&out, indent, "out ", NameText(o.name), " = ", EndpointText(graph, o.source),
                    "\n");
  }
  for (NodeId id : graph.targets()) {
    absl::StrAppend(&out, indent, "target ", EndpointText(graph, {id, 0}), "\n");
  }
  for (const auto& [name, body] : graph.functions()) {
    absl::StrAppend(&out, indent, "function ", NameText(name), " {\n");
    PrintTo(*body, options, depth + 1, out);
    absl::StrAppend(&out, indent, "}\n");
  }
}

std::vector<std::string> Lines(const Graph& g) {
  std::vector<std::string> nodes;
  for (NodeId id : g.NodeIds()) nodes.push_back(PrintNode(g, g.node(id)));
  std::sort(nodes.begin(), nodes.end());
  for (const GraphInput& in : g.inputs()) {
    nodes.push_back(absl::StrCat("in ", NameText(in.name), " = ", EndpointText(g, {in.node, 0})));
  }
  for (const GraphOutput& o : g.outputs()) {
    nodes.push_back(absl::StrCat("out ", NameText(o.name), " = ", EndpointText(g, o.source)));
  }
  for (NodeId t : g.targets()) nodes.push_back("target " + EndpointText(g, {t, 0}));
  return nodes;
}

}  // namespace

std::string PrintAttr(const AttrValue& value, const PrintOptions& options) {
  std::string out;
  std::visit(AttrPrinter(options, out), value.variant());
  return out;
}

std::string PrintNode(const Graph& graph, const Node& node, const PrintOptions& options) {
  std::string out = absl::StrCat("%", NameText(node.name), " = ", NameText(node.op), "(");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? ", " : "", EndpointText(graph, node.inputs[i]));
  }
  out += ")";
  if (!node.attrs.empty()) {
    out += " {";
    AttrPrinter(options, out).Attrs(node.attrs);
    out += "}";
  }
  if (!node.device.empty()) absl::StrAppend(&out, " on ", Quoted(node.device));
  for (NodeId c : node.control_inputs) absl::StrAppend(&out, " ^", EndpointText(graph, {c, 0}));
  return out;
}

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  std::string out;
  PrintTo(graph, options, 0, out);
  return out;
}

std::string GraphDifference(const Graph& a, const Graph& b) {
  const std::vector<std::string> la = Lines(a), lb = Lines(b);
  for (size_t i = 0; i < std::max(la.size(), lb.size()); ++i) {
    const std::string left = i < la.size() ? la[i] : "nothing",
                      right = i < lb.size() ? lb[i] : "nothing";
    if (left != right) return absl::StrCat("'", left, "' against '", right, "'");
  }
  if (a.functions().size() != b.functions().size()) return "different functions";
  for (auto ia = a.functions().begin(), ib = b.functions().begin(); ia != a.functions().end();
       ++ia, ++ib) {
    if (ia->first != ib->first) return absl::StrCat("function ", ia->first, " against ", ib->first);
    const std::string d = GraphDifference(*ia->second, *ib->second);
    if (!d.empty()) return absl::StrCat("function ", ia->first, ": ", d);
  }
  return "";
}

}  // namespace tenon
