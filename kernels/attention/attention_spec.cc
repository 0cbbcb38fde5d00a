// Parses attention's attributes and resolves its labels for given shapes.
#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "kernels/attention/attention.h"

namespace tenon {
namespace {

using Kind = AttentionStep::Kind;

bool Has(absl::string_view labels, char c) { return absl::StrContains(labels, c); }

absl::Status CheckLabels(absl::string_view labels, bool digits) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (digits && absl::ascii_isdigit(static_cast<unsigned char>(c))) continue;
    if (!absl::ascii_isalpha(static_cast<unsigned char>(c)) || Has(labels.substr(0, i), c)) {
      return InvalidArgument("'", labels, "' are not labels, each once");
    }
  }
  return absl::OkStatus();
}

// The only label of both tensors that the scores lack.
absl::StatusOr<char> Contracted(absl::string_view a, absl::string_view b,
                                absl::string_view scores) {
  char found = 0;
  for (char c : a) {
    if (!absl::ascii_isalpha(static_cast<unsigned char>(c)) || Has(scores, c)) continue;
    if (!Has(b, c) || found != 0) return InvalidArgument("label '", std::string(1, c), "'");
    found = c;
  }
  for (char c : b) {
    if (absl::ascii_isalpha(static_cast<unsigned char>(c)) && !Has(scores, c) && c != found) {
      return InvalidArgument("label '", std::string(1, c), "'");
    }
  }
  if (found == 0) return InvalidArgument("no label is contracted");
  return found;
}

absl::Status ParseEquation(const std::string& equation, AttentionSpec& s) {
  const std::vector<std::string> sides = absl::StrSplit(equation, "->");
  if (sides.size() != 2) return InvalidArgument("equation '", equation, "' must have one '->'");
  const std::vector<std::string> operands = absl::StrSplit(sides[0], ',');
  if (operands.size() != 3) return InvalidArgument("equation '", equation, "' is not for q, k, v");
  for (size_t i = 0; i < 3; ++i) {
    TENON_RETURN_IF_ERROR(CheckLabels(operands[i], /*digits=*/true));
    s.operands[i] = operands[i];
  }
  s.out = sides[1];
  TENON_RETURN_IF_ERROR(CheckLabels(s.out, /*digits=*/false));
  TENON_RETURN_IF_ERROR(CheckLabels(s.scores, /*digits=*/false));
  if (s.scores.empty()) return InvalidArgument("the scores have no labels");
  s.key = s.scores.back();
  TENON_ASSIGN_OR_RETURN(s.depth, Contracted(s.operands[0], s.operands[1], s.scores));
  TENON_ASSIGN_OR_RETURN(s.width, Contracted(s.operands[2], s.out, s.scores));
  if (Has(s.operands[0], s.key) || !Has(s.operands[1], s.key) || !Has(s.operands[2], s.key) ||
      Has(s.out, s.key) || s.out.size() != s.scores.size()) {
    return InvalidArgument("equation '", equation, "' does not contract '", std::string(1, s.key),
                           "', the last of the scores '", s.scores, "'");
  }
  for (char c : s.out) {
    if (c != s.width && !Has(s.operands[0], c) && !Has(s.operands[1], c)) {
      return InvalidArgument("output label '", std::string(1, c), "' is in neither q nor k");
    }
  }
  for (char c : s.repeated) {
    if (!Has(s.operands[0], c) || !Has(s.out, c)) {
      return InvalidArgument("repeated label '", std::string(1, c), "' is not in q and the output");
    }
  }
  return absl::OkStatus();
}

absl::Status ParseSteps(const AttrReader& attrs, AttentionSpec& s) {
  // op names: steps of attention; some are called like ops.
  static const std::map<std::string, Kind>* const kKinds = new std::map<std::string, Kind>{
      {"Add", Kind::kAdd},       {"Sub", Kind::kSubtract},        {"Mul", Kind::kMultiply},
      {"Select", Kind::kSelect}, {"SelectNot", Kind::kSelectNot}, {"Scale", Kind::kScale},
      {"Tanh", Kind::kTanh}};
  const int64_t masks = attrs.Int("num_masks", 0), conditions = attrs.Int("num_conditions", 0);
  if (masks < 0 || conditions < 0 || masks > kMaxAttentionInputs ||
      conditions > kMaxAttentionInputs || 3 + masks + conditions > kMaxAttentionInputs) {
    return InvalidArgument("at most ", kMaxAttentionInputs - 3, " masks and conditions");
  }
  s.num_inputs = static_cast<int>(3 + masks + conditions);
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> steps, attrs.Strings("steps"));
  TENON_ASSIGN_OR_RETURN(const std::vector<float> values, attrs.Floats("values"));
  if (steps.size() > kMaxAttentionSteps) {
    return InvalidArgument("at most ", kMaxAttentionSteps, " steps");
  }
  int mask = 3, condition = 3 + static_cast<int>(masks);
  size_t value = 0;
  for (const std::string& name : steps) {
    const auto it = kKinds->find(name);
    if (it == kKinds->end()) return InvalidArgument("'", name, "' is no step");
    AttentionStep step{.kind = it->second};
    const bool reads_value = step.selects() || step.kind == Kind::kScale;
    if (step.selects()) {
      step.input = condition++;
    } else if (step.kind != Kind::kScale && step.kind != Kind::kTanh) {
      step.input = mask++;
    }
    if (reads_value) {
      if (value == values.size()) return InvalidArgument("step '", name, "' has no value");
      step.value = values[value++];
    }
    s.steps.push_back(step);
  }
  if (mask != 3 + masks || condition != s.num_inputs || value != values.size()) {
    return InvalidArgument("the steps do not use each mask, condition and value once");
  }
  s.zero_hidden = attrs.Bool("zero_hidden", false);
  if (s.zero_hidden && (s.steps.empty() || !s.steps.back().selects())) {
    return InvalidArgument("zero_hidden is set, but the last step selects nothing");
  }
  return absl::OkStatus();
}

// The labels of input i; those of a mask are the scores' last ones.
absl::StatusOr<std::string> LabelsOf(const AttentionSpec& spec, int i, const Shape& shape) {
  const size_t rank = static_cast<size_t>(shape.rank());
  if (i < 3) {
    const std::string& labels = spec.operands[static_cast<size_t>(i)];
    if (labels.size() != rank) {
      return InvalidArgument("input ", i, " has shape ", shape.ToString(), ", but the labels '",
                             labels, "'");
    }
    return labels;
  }
  if (rank > spec.scores.size()) {
    return InvalidArgument("input ", i, " has shape ", shape.ToString(),
                           ", a higher rank than the scores");
  }
  return spec.scores.substr(spec.scores.size() - rank);
}

using Extents = std::map<char, int64_t>;

absl::Status Combine(int64_t dim, bool repeats, int64_t& extent) {
  if (dim == extent || dim == 1) return absl::OkStatus();
  if (repeats && (dim < 0 || extent < 0 || (dim > 0 && extent % dim == 0))) return absl::OkStatus();
  if (extent == 1 && !repeats) {
    extent = dim;
  } else if (extent < 0) {
    extent = dim;
  } else if (dim >= 0) {
    return InvalidArgument("a label stands for ", extent, " and for ", dim);
  }
  return absl::OkStatus();
}

// -1: not known.
absl::StatusOr<Extents> ExtentsOf(const AttentionSpec& spec, absl::Span<const Shape> inputs) {
  Extents extents;
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const Shape& shape = inputs[static_cast<size_t>(i)];
    if (!shape.has_rank()) continue;
    TENON_ASSIGN_OR_RETURN(const std::string labels, LabelsOf(spec, i, shape));
    for (int d = 0; d < shape.rank(); ++d) {
      const char c = labels[static_cast<size_t>(d)];
      if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
        if (shape.dim(d) >= 0 && shape.dim(d) <= c - '0') {
          return InvalidArgument("index ", c - '0', " of a dimension of ", shape.dim(d));
        }
        continue;
      }
      const bool repeats = (i == 1 || i == 2) && Has(spec.repeated, c);
      // Of repeated heads, only q tells how many there are.
      const auto [it, added] = extents.emplace(c, repeats ? -1 : shape.dim(d));
      if (added) continue;
      const bool strict = c == spec.depth || (c == spec.key && i == 2);
      if (strict && shape.dim(d) >= 0 && it->second >= 0 && shape.dim(d) != it->second) {
        // A mask may still widen the keys.
        if (c == spec.depth || it->second != 1) {
          return InvalidArgument("a label stands for ", it->second, " and for ", shape.dim(d));
        }
      }
      TENON_RETURN_IF_ERROR(Combine(shape.dim(d), repeats, it->second));
    }
  }
  return extents;
}

int64_t At(const Extents& extents, char c) {
  const auto it = extents.find(c);
  return it == extents.end() ? -1 : it->second;
}

}  // namespace

absl::StatusOr<AttentionSpec> ParseAttention(const AttrReader& attrs) {
  AttentionSpec s;
  TENON_ASSIGN_OR_RETURN(const std::string equation, attrs.String("equation"));
  TENON_ASSIGN_OR_RETURN(s.scores, attrs.String("scores"));
  s.repeated = attrs.String("repeated", "");
  s.scale = attrs.Float("scale", 1);
  TENON_RETURN_IF_ERROR(ParseEquation(equation, s));
  TENON_RETURN_IF_ERROR(ParseSteps(attrs, s));
  return s;
}

absl::StatusOr<Shape> AttentionShape(const AttentionSpec& spec, absl::Span<const Shape> inputs) {
  if (static_cast<int>(inputs.size()) != spec.num_inputs) {
    return InvalidArgument("takes ", spec.num_inputs, " inputs, but has ", inputs.size());
  }
  TENON_ASSIGN_OR_RETURN(const Extents extents, ExtentsOf(spec, inputs));
  const bool all =
      std::all_of(inputs.begin(), inputs.end(), [](const Shape& s) { return s.has_rank(); });
  Shape out;
  for (char c : spec.out) {
    // An input of unknown rank may widen what is 1 so far.
    const int64_t extent = At(extents, c);
    out.push_back(all || extent > 1 ? extent : -1);
  }
  return out;
}

int64_t AttentionProblem::batches() const {
  int64_t n = 1;
  for (const AttentionDim& d : batch) n *= d.extent;
  return n;
}

void AttentionProblem::Locate(int64_t i, std::array<int64_t, kMaxAttentionInputs + 1>& at) const {
  for (size_t d = batch.size(); d-- > 0 && i > 0;) {
    const int64_t index = i % batch[d].extent;
    i /= batch[d].extent;
    for (size_t t = 0; t < at.size(); ++t) at[t] += index * batch[d].stride[t];
  }
}

absl::StatusOr<AttentionProblem> MakeAttentionProblem(const AttentionSpec& spec,
                                                      absl::Span<const Shape> inputs,
                                                      const Shape& out) {
  TENON_ASSIGN_OR_RETURN(const Extents extents, ExtentsOf(spec, inputs));
  AttentionProblem p;
  p.scale = spec.scale;
  p.steps = spec.steps;
  p.num_inputs = spec.num_inputs;
  if (spec.zero_hidden) p.zero_up_to = spec.steps.back().value;
  p.depth = At(extents, spec.depth);
  p.width = At(extents, spec.width);

  std::map<char, AttentionDim> dims, inner;  // inner: of repeated labels, the heads that share
  for (char c : spec.scores) {
    dims[c].extent = At(extents, c);
    inner[c].extent = 1;
  }
  for (size_t i = 0; i <= inputs.size(); ++i) {
    const bool is_out = i == inputs.size();
    const Shape& shape = is_out ? out : inputs[i];
    std::string labels = spec.out;
    if (!is_out) {
      TENON_ASSIGN_OR_RETURN(labels, LabelsOf(spec, static_cast<int>(i), shape));
    }
    int64_t stride = 1;
    for (int d = shape.rank(); d-- > 0; stride *= shape.dim(d)) {
      const char c = labels[static_cast<size_t>(d)];
      if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
        p.offset[i] += (c - '0') * stride;
      } else if (c == spec.depth) {
        (i == 0 ? p.q_depth : p.k_depth) = stride;
      } else if (c == spec.width) {
        (is_out ? p.out_width : p.v_width) = stride;
      } else if (shape.dim(d) == dims[c].extent || shape.dim(d) == 1) {
        const size_t slot = is_out ? AttentionDim::kOut : i;
        dims[c].stride[slot] = shape.dim(d) == 1 ? 0 : stride;
      } else {
        const int64_t shared = dims[c].extent / shape.dim(d);
        if (inner[c].extent != 1 && inner[c].extent != shared) {
          return Unimplemented("k and v repeat differently");
        }
        inner[c].extent = shared;
        dims[c].stride[i] = stride;  // of the outer part already
        inner[c].stride[i] = -1;
      }
    }
  }
  const int64_t keys = At(extents, spec.key);
  if (inputs[2].dim(static_cast<int>(spec.operands[2].find(spec.key))) != keys) {
    return InvalidArgument("v has ",
                           inputs[2].dim(static_cast<int>(spec.operands[2].find(spec.key))),
                           " keys, but the scores ", keys);
  }
  p.keys = dims[spec.key];
  for (char c : spec.scores) {
    if (c == spec.key) continue;
    AttentionDim& outer = dims[c];
    AttentionDim& shared = inner[c];
    if (shared.extent > 1) {
      outer.extent /= shared.extent;
      for (size_t t = 0; t < outer.stride.size(); ++t) {
        if (shared.stride[t] < 0) {
          shared.stride[t] = 0;
        } else {
          shared.stride[t] = outer.stride[t];
          outer.stride[t] *= shared.extent;
        }
      }
    }
    for (const AttentionDim* d : {&outer, &shared}) {
      if (d->extent != 1) p.batch.push_back(*d);
    }
  }
  // The longest dimension along which keys and values stay the same.
  int best = -1;
  for (int i = 0; i < static_cast<int>(p.batch.size()); ++i) {
    const AttentionDim& d = p.batch[static_cast<size_t>(i)];
    if (d.stride[1] != 0 || d.stride[2] != 0) continue;
    if (best < 0 || d.extent >= p.batch[static_cast<size_t>(best)].extent) best = i;
  }
  if (best >= 0) {
    p.rows = p.batch[static_cast<size_t>(best)];
    p.batch.erase(p.batch.begin() + best);
  }
  return p;
}

}  // namespace tenon
