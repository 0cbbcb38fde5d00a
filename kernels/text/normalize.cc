#include "kernels/text/normalize.h"

#include <unicode/bytestream.h>
#include <unicode/edits.h>
#include <unicode/normalizer2.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "graph/object.h"
#include "kernels/ragged/nested_splits.h"
#include "kernels/text/rows.h"

namespace tenon {
namespace {

struct EditsOfText final : Object {
  icu::Edits edits;
};

using Form = const icu::Normalizer2* (*)(UErrorCode&);

absl::StatusOr<const icu::Normalizer2*> Load(Form form) {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = form(error);
  if (U_FAILURE(error)) return Internal(u_errorName(error), ": could not retrieve the normalizer");
  return normalizer;
}

absl::StatusOr<const icu::Normalizer2*> FormOf(const AttrReader& attrs) {
  TENON_ASSIGN_OR_RETURN(const std::string name, attrs.String("normalization_form"));
  const std::string upper = absl::AsciiStrToUpper(name);
  if (upper == "NFC") return Load(icu::Normalizer2::getNFCInstance);
  if (upper == "NFD") return Load(icu::Normalizer2::getNFDInstance);
  if (upper == "NFKC") return Load(icu::Normalizer2::getNFKCInstance);
  if (upper == "NFKD") return Load(icu::Normalizer2::getNFKDInstance);
  return InvalidArgument("unknown normalization form '", name, "'");
}

// Branch-free: most texts are ASCII, and none of the forms changes that but for its case.
bool IsAscii(const std::string& text) {
  unsigned char bits = 0;
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  return bits < 0x80;
}

absl::Status Apply(const icu::Normalizer2& form, const std::string& in, std::string& out,
                   icu::Edits* edits) {
  out.clear();
  out.reserve(in.size());
  icu::StringByteSink<std::string> sink(&out);
  UErrorCode error = U_ZERO_ERROR;
  form.normalizeUTF8(0, icu::StringPiece(in.data(), static_cast<int32_t>(in.size())), sink, edits,
                     error);
  if (U_FAILURE(error)) return Internal(u_errorName(error), ": could not normalize ", in);
  return absl::OkStatus();
}

// f(input element, output element, its index), a Status, on several threads.
template <typename F>
absl::StatusOr<std::unique_ptr<Kernel>> MapTexts(PrepareContext& p, F f) {
  struct Nothing {};
  const size_t n = static_cast<size_t>(p.input_shape(0).num_elements());
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const absl::Span<const std::string> in(run.input<std::string>(0), n);
    return InParts<Nothing>(threads, std::ssize(in), RowCost(in, 5),
                            [&](Nothing&, int64_t i) {
                              return f(run, in[static_cast<size_t>(i)],
                                       run.output<std::string>(0)[i], i);
                            })
        .status();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CaseFoldKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const icu::Normalizer2* fold,
                         Load(icu::Normalizer2::getNFKCCasefoldInstance));
  return MapTexts(p, [fold](RunContext&, const std::string& in, std::string& out, int64_t) {
    if (!IsAscii(in)) return Apply(*fold, in, out, nullptr);
    out = in;
    absl::AsciiStrToLower(&out);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> NormalizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const icu::Normalizer2* form, FormOf(p.attrs()));
  const bool with_edits = p.num_outputs() > 1;
  return MapTexts(
      p, [=](RunContext& run, const std::string& in, std::string& out, int64_t i) -> absl::Status {
        if (with_edits) {
          auto edits = std::make_shared<EditsOfText>();
          TENON_RETURN_IF_ERROR(Apply(*form, in, out, &edits->edits));
          run.output<ObjectPtr>(1)[i] = std::move(edits);
          return absl::OkStatus();
        }
        if (!IsAscii(in)) return Apply(*form, in, out, nullptr);
        out = in;
        return absl::OkStatus();
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> SourceOffsetsKernel(PrepareContext& p) {
  const int64_t maps = p.input_shape(0).num_elements(), n = p.input_shape(1).num_elements();
  const int64_t splits_size = p.input_shape(2).num_elements();
  const DType splits_type = p.input_dtype(2);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const std::vector<int64_t> splits = IntegersAt(splits_type, run.input(2), splits_size);
    const ObjectPtr* objects = run.input<ObjectPtr>(0);
    const int64_t* in = run.input<int64_t>(1);
    int64_t *out = run.output<int64_t>(0), next = 0;
    int64_t* const end = out + n;
    const auto mismatch = [] {
      return InvalidArgument(
          "Input offset tensor dimension did not match the offset map dimension.");
    };
    UErrorCode error = U_ZERO_ERROR;
    for (size_t row = 0; row + 1 < splits.size(); ++row) {
      if (splits[row] == splits[row + 1]) continue;
      if (splits[row] < 0 || splits[row + 1] < splits[row] || splits[row + 1] > n) {
        return InvalidArgument("row splits must rise from 0 to the ", n, " offsets");
      }
      if (next == maps) return mismatch();
      const auto edits = ObjectAs<EditsOfText>(objects[next++]);
      if (edits == nullptr) return InvalidArgument("offsets_map does not hold offset maps");
      auto changes = edits->edits.getFineChangesIterator();
      for (int64_t i = splits[row]; i < splits[row + 1] && out < end; ++i) {
        const int64_t offset = std::clamp<int64_t>(in[i], INT32_MIN, INT32_MAX);
        *out++ = changes.sourceIndexFromDestinationIndex(static_cast<int32_t>(offset), error);
      }
    }
    std::fill(out, end, 0);
    return next == maps ? absl::OkStatus() : mismatch();
  });
}

}  // namespace tenon
