#include <charconv>
#include <cmath>
#include <cstring>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph/text.h"
#include "graph/text_values.h"

namespace tenon {
namespace {

constexpr int kMaxDepth = 32;  // of nested functions, function attributes and lists
constexpr int kMaxRank = 254;  // TensorFlow's own limit
constexpr int64_t kMaxPort = 1 << 20;

// Reads characters and counts lines.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  absl::Status Error(absl::string_view what) { return InvalidArgument("line ", line_, ": ", what); }
  // The next character that is neither space nor comment; 0 at the end.
  char Peek() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else {
        return c;
      }
    }
    return 0;
  }
  // The current character, without skipping spaces.
  char Raw() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Skip() { ++at_; }
  bool TryTake(char c) {
    if (Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  absl::Status Expect(char c) {
    if (TryTake(c)) return absl::OkStatus();
    return Error(absl::StrCat("expected '", std::string(1, c), "' ", Found()));
  }
  // The longest run of bare characters (and characters in `more`).
  absl::string_view Word(absl::string_view more = "") {
    Peek();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (text::IsBareChar(text_[at_]) || more.find(text_[at_]) != absl::string_view::npos)) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  // A tensor's element: a word, or "(re,im)".
  absl::string_view Element() {
    if (Peek() != '(') return Word(":+");
    const size_t start = at_;
    const size_t end = text_.find(')', start);
    if (end == absl::string_view::npos || end - start > 100) return "";
    at_ = end + 1;
    return text_.substr(start, at_ - start);
  }
  absl::StatusOr<std::string> QuotedString() {
    TENON_RETURN_IF_ERROR(Expect('"'));
    std::string out;
    while (at_ < text_.size()) {
      char c = text_[at_++];
      if (c == '"') return out;
      if (c == '\n') ++line_;
      if (c == '\\') {
        if (at_ >= text_.size()) break;
        c = text_[at_++];
        if (c == 'n') {
          c = '\n';
        } else if (c == 't') {
          c = '\t';
        } else if (c == 'x') {
          unsigned value = 0;
          if (at_ + 2 > text_.size()) break;
          const char* p = text_.data() + at_;
          if (std::from_chars(p, p + 2, value, 16).ptr != p + 2)
            return Error("bad \\x in a string");
          at_ += 2;
          c = static_cast<char>(value);
        } else if (c != '"' && c != '\\') {
          return Error("unknown escape in a string");
        }
      }
      out += c;
    }
    return Error("a string has no end");
  }
  // A bare word or a quoted string.
  absl::StatusOr<std::string> NameOf(const char* what) {
    if (Peek() == '"') return QuotedString();
    const absl::string_view w = Word();
    if (w.empty()) return Error(absl::StrCat("expected ", what, " ", Found()));
    return std::string(w);
  }
  std::string Found() {
    const char c = Peek();
    if (c == 0) return "at the end of the text";
    return absl::StrCat("before '", std::string(1, c), "'");
  }
  int line() const { return line_; }

 private:
  absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

class Parser {
 public:
  Parser(absl::string_view text, const ParseOptions& options)
      : scan_(text), options_(options), budget_(options.max_generated_bytes) {}

  absl::StatusOr<Graph> Run() {
    TENON_ASSIGN_OR_RETURN(Graph g, Body(0));
    if (scan_.Peek() != 0) return scan_.Error(absl::StrCat("unexpected text ", scan_.Found()));
    return g;
  }

 private:
  struct Ref {
    std::string name;
    int port = 0;
    int line = 0;
  };
  struct Pending {
    Node node;
    std::vector<Ref> inputs, controls;
    int line = 0;
  };

  absl::StatusOr<Graph> Body(int depth);
  absl::Status Statement(int depth, Graph& graph);
  absl::StatusOr<Ref> ReadRef();
  absl::StatusOr<Pending> ReadNode();
  absl::Status Attrs(int depth, AttrMap& attrs);
  absl::StatusOr<AttrValue> Value(int depth);
  absl::StatusOr<AttrValue> List(int depth);
  absl::StatusOr<AttrValue> WordValue();
  absl::StatusOr<Shape> ReadShape();
  absl::StatusOr<AttrValue> ReadTensor(DType dtype);
  absl::StatusOr<Tensor> Generated(DType dtype, const Shape& shape);
  absl::StatusOr<Endpoint> Resolve(Graph& graph, const Ref& ref);

  struct Section {  // names that one graph still has to resolve
    std::vector<Pending> nodes;
    std::vector<std::pair<std::string, Ref>> ins, outs;
    std::vector<Ref> targets;
  };

  Scanner scan_;
  const ParseOptions& options_;
  int64_t budget_;
  int literals_ = 0;
  Section* section_ = nullptr;
};

absl::StatusOr<Graph> Parser::Body(int depth) {
  if (depth > kMaxDepth) return scan_.Error("functions are nested too deeply");
  Section section;
  Section* const outer = section_;
  section_ = &section;
  Graph graph;
  while (scan_.Peek() != 0 && scan_.Peek() != '}') {
    TENON_RETURN_IF_ERROR(Statement(depth, graph));
  }
  section_ = outer;

  std::vector<std::pair<NodeId, const Pending*>> added;
  for (Pending& p : section.nodes) {
    auto id = graph.AddNode(std::move(p.node));
    if (!id.ok()) return InvalidArgument("line ", p.line, ": ", id.status().message());
    added.emplace_back(*id, &p);
  }
  // Inputs are resolved once every name is known. AddNode is the only mutator used here, so the
  // resolved nodes go into a fresh graph in the same order.
  Graph out;
  out.SetFunctions(graph.functions());
  std::vector<Node> nodes;
  for (const auto& [id, p] : added) nodes.push_back(graph.node(id));
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const Ref& r : added[i].second->inputs) {
      TENON_ASSIGN_OR_RETURN(const Endpoint e, Resolve(graph, r));
      nodes[i].inputs.push_back(e);
    }
    for (const Ref& r : added[i].second->controls) {
      TENON_ASSIGN_OR_RETURN(const Endpoint e, Resolve(graph, r));
      nodes[i].control_inputs.push_back(e.node);
    }
  }
  for (const auto& [name, ref] : section.ins) {
    TENON_ASSIGN_OR_RETURN(const Endpoint e, Resolve(graph, ref));
    if (e.port != 0)
      return InvalidArgument("line ", ref.line, ": an input names a node, not a port");
    out.AddInput({name, e.node});
  }
  for (const auto& [name, ref] : section.outs) {
    TENON_ASSIGN_OR_RETURN(const Endpoint e, Resolve(graph, ref));
    out.AddOutput({name, e});
  }
  for (const Ref& ref : section.targets) {
    TENON_ASSIGN_OR_RETURN(const Endpoint e, Resolve(graph, ref));
    out.AddTarget(e.node);
  }
  // Captures were added to `graph` while resolving.
  for (NodeId id = static_cast<NodeId>(nodes.size()); id < graph.end_id(); ++id) {
    nodes.push_back(graph.node(id));
  }
  for (Node& n : nodes) TENON_RETURN_IF_ERROR(out.AddNode(std::move(n)).status());
  return out;
}

absl::StatusOr<Endpoint> Parser::Resolve(Graph& graph, const Ref& ref) {
  if (const Node* n = graph.FindNode(ref.name)) return Endpoint{n->id, ref.port};
  if (!options_.pattern) {
    return InvalidArgument("line ", ref.line, ": no node is named %", text::NameText(ref.name));
  }
  Node capture;
  capture.name = ref.name;
  capture.op = "_Capture";
  TENON_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(capture)));
  return Endpoint{id, ref.port};
}

absl::Status Parser::Statement(int depth, Graph& graph) {
  if (scan_.Peek() == '%') {
    TENON_ASSIGN_OR_RETURN(Pending p, ReadNode());
    section_->nodes.push_back(std::move(p));
    return absl::OkStatus();
  }
  const std::string word(scan_.Word());
  if (word == "in" || word == "out") {
    TENON_ASSIGN_OR_RETURN(std::string name, scan_.NameOf("a name"));
    TENON_RETURN_IF_ERROR(scan_.Expect('='));
    TENON_ASSIGN_OR_RETURN(Ref ref, ReadRef());
    (word == "in" ? section_->ins : section_->outs).emplace_back(std::move(name), std::move(ref));
    return absl::OkStatus();
  }
  if (word == "target") {
    TENON_ASSIGN_OR_RETURN(Ref ref, ReadRef());
    section_->targets.push_back(std::move(ref));
    return absl::OkStatus();
  }
  if (word == "function") {
    TENON_ASSIGN_OR_RETURN(std::string name, scan_.NameOf("a function's name"));
    TENON_RETURN_IF_ERROR(scan_.Expect('{'));
    TENON_ASSIGN_OR_RETURN(Graph body, Body(depth + 1));
    TENON_RETURN_IF_ERROR(scan_.Expect('}'));
    if (graph.functions().contains(name)) {
      return scan_.Error(absl::StrCat("two functions are named ", text::NameText(name)));
    }
    graph.SetFunction(name, std::make_shared<const Graph>(std::move(body)));
    return absl::OkStatus();
  }
  return scan_.Error(absl::StrCat("expected a node, in, out, target or function ", scan_.Found()));
}

absl::StatusOr<Parser::Ref> Parser::ReadRef() {
  Ref ref;
  TENON_RETURN_IF_ERROR(scan_.Expect('%'));
  TENON_ASSIGN_OR_RETURN(ref.name, scan_.NameOf("a node's name"));
  ref.line = scan_.line();
  if (scan_.Raw() == ':') {
    scan_.Skip();
    const std::string digits(scan_.Word());
    int64_t port;
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (r.ec != std::errc() || r.ptr != digits.data() + digits.size() || port < 0 ||
        port > kMaxPort) {
      return scan_.Error("bad port number");
    }
    ref.port = static_cast<int>(port);
  }
  return ref;
}

absl::StatusOr<Parser::Pending> Parser::ReadNode() {
  Pending p;
  p.line = scan_.line();
  TENON_RETURN_IF_ERROR(scan_.Expect('%'));
  TENON_ASSIGN_OR_RETURN(p.node.name, scan_.NameOf("a node's name"));
  TENON_RETURN_IF_ERROR(scan_.Expect('='));
  if (scan_.Peek() == '"') {
    TENON_ASSIGN_OR_RETURN(p.node.op, scan_.QuotedString());
  } else {
    p.node.op = std::string(scan_.Word(options_.pattern ? "|*" : ""));
    if (p.node.op.empty()) return scan_.Error(absl::StrCat("expected an op ", scan_.Found()));
  }
  TENON_RETURN_IF_ERROR(scan_.Expect('('));
  if (!scan_.TryTake(')')) {
    do {
      if (options_.pattern && scan_.Peek() != '%') {
        float value;
        if (!text::ReadFloat(scan_.Word("+"), &value)) return scan_.Error("expected an operand");
        Pending c;
        c.line = scan_.line();
        c.node.name = absl::StrCat("#", literals_++);
        c.node.op = "Const";
        c.node.attrs["value"] = Tensor::Scalar(value);
        p.inputs.push_back({c.node.name, 0, c.line});
        section_->nodes.push_back(std::move(c));
        continue;
      }
      TENON_ASSIGN_OR_RETURN(Ref ref, ReadRef());
      p.inputs.push_back(std::move(ref));
    } while (scan_.TryTake(','));
    TENON_RETURN_IF_ERROR(scan_.Expect(')'));
  }
  if (scan_.TryTake('{')) TENON_RETURN_IF_ERROR(Attrs(0, p.node.attrs));
  // "on" is the only word that may follow here; any other word starts a statement.
  if (scan_.Peek() == 'o') {
    Scanner ahead = scan_;
    if (ahead.Word() == "on") {
      scan_ = ahead;
      TENON_ASSIGN_OR_RETURN(p.node.device, scan_.QuotedString());
    }
  }
  while (scan_.TryTake('^')) {
    TENON_ASSIGN_OR_RETURN(Ref ref, ReadRef());
    if (ref.port != 0) return scan_.Error("a control input has no port");
    p.controls.push_back(std::move(ref));
  }
  return p;
}

// After the opening brace.
absl::Status Parser::Attrs(int depth, AttrMap& attrs) {
  if (scan_.TryTake('}')) return absl::OkStatus();
  do {
    TENON_ASSIGN_OR_RETURN(std::string name, scan_.NameOf("an attribute's name"));
    TENON_RETURN_IF_ERROR(scan_.Expect('='));
    TENON_ASSIGN_OR_RETURN(AttrValue value, Value(depth));
    if (!attrs.emplace(name, std::move(value)).second) {
      return scan_.Error(absl::StrCat("attribute '", name, "' appears twice"));
    }
  } while (scan_.TryTake(','));
  return scan_.Expect('}');
}

absl::StatusOr<AttrValue> Parser::Value(int depth) {
  if (depth > kMaxDepth) return scan_.Error("attributes are nested too deeply");
  switch (scan_.Peek()) {
    case '"': {
      TENON_ASSIGN_OR_RETURN(std::string s, scan_.QuotedString());
      return AttrValue(std::move(s));
    }
    case '<': {
      TENON_ASSIGN_OR_RETURN(Shape s, ReadShape());
      return AttrValue(std::move(s));
    }
    case '[':
      return List(depth);
    case '@': {
      scan_.Skip();
      FuncRef f;
      TENON_ASSIGN_OR_RETURN(f.name, scan_.NameOf("a function's name"));
      if (scan_.Raw() == '{') {
        scan_.Skip();
        auto attrs = std::make_shared<AttrMap>();
        TENON_RETURN_IF_ERROR(Attrs(depth + 1, *attrs));
        if (!attrs->empty()) f.attrs = std::move(attrs);
      }
      return AttrValue(std::move(f));
    }
    default:
      return WordValue();
  }
}

absl::StatusOr<AttrValue> Parser::WordValue() {
  const absl::string_view w = scan_.Word(":+");
  if (w == "true" || w == "false") return AttrValue(w == "true");
  if (w == "none") return AttrValue();
  if (w == "invalid" && scan_.Raw() != '<') return AttrValue(DType::kInvalid);
  const char* end = w.data() + w.size();
  if (w.substr(0, 6) == "dtype:") {
    int number;
    const auto r = std::from_chars(w.data() + 6, end, number);
    if (r.ec == std::errc() && r.ptr == end) return AttrValue(static_cast<DType>(number));
  }
  if (w == "invalid") {
    TENON_RETURN_IF_ERROR(ReadShape().status());
    TENON_RETURN_IF_ERROR(scan_.Expect('{'));
    TENON_RETURN_IF_ERROR(scan_.Expect('}'));
    return AttrValue(Tensor());
  }
  // The ">" of a shape never follows a dtype directly, so a dtype is a whole word.
  if (const auto dtype = DTypeFromName(w)) {
    if (scan_.Raw() == '<') return ReadTensor(*dtype);
    return AttrValue(*dtype);
  }
  int64_t i;
  const auto r = std::from_chars(w.data(), end, i);
  if (r.ec == std::errc() && r.ptr == end) return AttrValue(i);
  float f;
  if (text::ReadFloat(w, &f)) return AttrValue(f);
  if (w.empty()) return scan_.Error(absl::StrCat("expected a value ", scan_.Found()));
  return scan_.Error(absl::StrCat("'", w, "' is not a value"));
}

template <typename T>
absl::StatusOr<AttrValue> ListOf(std::vector<AttrValue>& items) {
  std::vector<T> out;
  for (AttrValue& item : items) {
    const T* v = item.get_if<T>();
    if (v == nullptr) return InvalidArgument("a list mixes types");
    out.push_back(*v);
  }
  return AttrValue(std::move(out));
}

absl::StatusOr<AttrValue> Parser::List(int depth) {
  TENON_RETURN_IF_ERROR(scan_.Expect('['));
  if (scan_.TryTake(':')) {
    const std::string kind(scan_.Word());
    TENON_RETURN_IF_ERROR(scan_.Expect(']'));
    if (kind == "float") return AttrValue(std::vector<float>());
    if (kind == "bool") return AttrValue(std::vector<bool>());
    if (kind == "string") return AttrValue(std::vector<std::string>());
    if (kind == "type") return AttrValue(std::vector<DType>());
    if (kind == "shape") return AttrValue(std::vector<Shape>());
    if (kind == "tensor") return AttrValue(std::vector<Tensor>());
    if (kind == "func") return AttrValue(std::vector<FuncRef>());
    return scan_.Error(absl::StrCat("'", kind, "' is not a type of list"));
  }
  if (scan_.TryTake(']')) return AttrValue(std::vector<int64_t>());
  std::vector<AttrValue> items;
  do {
    TENON_ASSIGN_OR_RETURN(AttrValue v, Value(depth + 1));
    items.push_back(std::move(v));
  } while (scan_.TryTake(','));
  TENON_RETURN_IF_ERROR(scan_.Expect(']'));
  absl::StatusOr<AttrValue> list = InvalidArgument("no list of this type");
  const AttrValue& first = items.front();
  if (first.get_if<int64_t>()) list = ListOf<int64_t>(items);
  if (first.get_if<float>()) list = ListOf<float>(items);
  if (first.get_if<bool>()) list = ListOf<bool>(items);
  if (first.get_if<std::string>()) list = ListOf<std::string>(items);
  if (first.get_if<DType>()) list = ListOf<DType>(items);
  if (first.get_if<Shape>()) list = ListOf<Shape>(items);
  if (first.get_if<Tensor>()) list = ListOf<Tensor>(items);
  if (first.get_if<FuncRef>()) list = ListOf<FuncRef>(items);
  if (!list.ok()) return scan_.Error(list.status().message());
  return list;
}

absl::StatusOr<Shape> Parser::ReadShape() {
  TENON_RETURN_IF_ERROR(scan_.Expect('<'));
  if (scan_.TryTake('*')) {
    TENON_RETURN_IF_ERROR(scan_.Expect('>'));
    return Shape::Unknown();
  }
  Shape shape;
  if (scan_.TryTake('>')) return shape;
  while (true) {
    if (scan_.TryTake('?')) {
      shape.push_back(-1);
    } else {
      std::string digits;
      scan_.Peek();
      while (absl::ascii_isdigit(static_cast<unsigned char>(scan_.Raw()))) {
        digits += scan_.Raw();
        scan_.Skip();
      }
      int64_t d;
      const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), d);
      if (digits.empty() || r.ec != std::errc()) return scan_.Error("bad dimension in a shape");
      shape.push_back(d);
    }
    if (shape.rank() > kMaxRank) return scan_.Error("a shape has too many dimensions");
    if (scan_.TryTake(',')) continue;
    TENON_RETURN_IF_ERROR(scan_.Expect('>'));
    return shape;
  }
}

absl::StatusOr<Tensor> Parser::Generated(DType dtype, const Shape& shape) {
  auto n = shape.CheckedElements();
  if (!n.ok()) return scan_.Error(n.status().message());
  const int64_t size = static_cast<int64_t>(SizeOf(dtype));
  if (size == 0 || *n > budget_ / size) return scan_.Error("a tensor is too large");
  budget_ -= *n * size;
  return Tensor::Allocate(dtype, shape);
}

absl::StatusOr<AttrValue> Parser::ReadTensor(DType dtype) {
  TENON_ASSIGN_OR_RETURN(const Shape shape, ReadShape());
  if (!shape.IsComplete()) return scan_.Error("a tensor's shape must be known");
  TENON_RETURN_IF_ERROR(scan_.Expect('{'));
  if (scan_.TryTake('=')) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Generated(dtype, shape));
    const absl::string_view w = scan_.Element();
    if (dtype == DType::kString) return scan_.Error("strings are written one by one");
    const size_t size = SizeOf(dtype);
    if (t.num_elements() > 0 && !text::StoreElement(t, 0, w)) return scan_.Error("bad element");
    for (size_t at = size; at < t.bytes(); at += size) {
      std::memcpy(t.data<char>() + at, t.raw(), size);
    }
    TENON_RETURN_IF_ERROR(scan_.Expect('}'));
    return AttrValue(std::move(t));
  }
  std::vector<std::string> elements;
  while (!scan_.TryTake('}')) {
    if (scan_.Peek() == 0) return scan_.Error("a tensor has no end");
    if (!elements.empty()) TENON_RETURN_IF_ERROR(scan_.Expect(','));
    if (scan_.Peek() == '"') {
      TENON_ASSIGN_OR_RETURN(std::string s, scan_.QuotedString());
      elements.push_back(std::move(s));
      continue;
    }
    const absl::string_view w = scan_.Element();
    if (w == "random" && elements.empty()) {
      double numbers[3] = {0, -1, 1};
      int count = 0;
      while (count < 3 && scan_.Peek() != '}') {
        if (!text::ReadDouble(scan_.Word("+"), &numbers[count++])) {
          return scan_.Error("expected {random SEED [LOW HIGH]}");
        }
      }
      TENON_RETURN_IF_ERROR(scan_.Expect('}'));
      if (!(std::abs(numbers[0]) < 4e9)) return scan_.Error("bad seed");
      if (dtype != DType::kFloat) return scan_.Error("only float tensors can be random");
      TENON_ASSIGN_OR_RETURN(Tensor t, Generated(dtype, shape));
      std::mt19937 gen(static_cast<uint32_t>(static_cast<int64_t>(numbers[0])));
      for (float& v : t.flat<float>()) {
        // By hand, because distributions differ between standard libraries.
        v = static_cast<float>(numbers[1] + (numbers[2] - numbers[1]) * (gen() / 4294967296.0));
      }
      return AttrValue(std::move(t));
    }
    if (w.empty() || w == "...") return scan_.Error("a tensor's elements are left out");
    elements.emplace_back(w);
  }
  auto n = shape.CheckedElements();
  if (!n.ok()) return scan_.Error(n.status().message());
  if (*n != static_cast<int64_t>(elements.size())) {
    return scan_.Error(absl::StrCat("a tensor of shape ", shape.ToString(), " has ",
                                    elements.size(), " elements"));
  }
  auto t = Tensor::Allocate(dtype, shape);
  if (!t.ok()) return scan_.Error(t.status().message());
  for (int64_t i = 0; i < *n; ++i) {
    std::string& s = elements[static_cast<size_t>(i)];
    if (dtype == DType::kString) {
      t->data<std::string>()[i] = std::move(s);
    } else if (!text::StoreElement(*t, i, s)) {
      return scan_.Error(absl::StrCat("'", s, "' is not of dtype ", Name(dtype)));
    }
  }
  return AttrValue(*std::move(t));
}

}  // namespace

absl::StatusOr<Graph> ParseGraph(absl::string_view text, const ParseOptions& options) {
  return Parser(text, options).Run();
}

}  // namespace tenon
