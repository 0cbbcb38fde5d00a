#include "graph/npz/npy.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "env/status.h"

namespace tenon {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr size_t kMostHeaderBytes = 1 << 20;
constexpr size_t kMostRank = 64;  // NumPy's own limit

struct Match {
  char kind;
  size_t size;
  DType dtype;
};
constexpr Match kDTypes[] = {
    {'b', 1, DType::kBool},
    {'i', 1, DType::kInt8},
    {'i', 2, DType::kInt16},
    {'i', 4, DType::kInt32},
    {'i', 8, DType::kInt64},
    {'u', 1, DType::kUint8},
    {'u', 2, DType::kUint16},
    {'u', 4, DType::kUint32},
    {'u', 8, DType::kUint64},
    {'f', 2, DType::kHalf},
    {'f', 4, DType::kFloat},
    {'f', 8, DType::kDouble},
    {'c', 8, DType::kComplex64},
    {'c', 16, DType::kComplex128},
    {'V', 2, DType::kBfloat16},
    // Bits, which a reader has to know.
    {'V', 1, DType::kFloat8E4m3fn},
    {'V', 1, DType::kFloat8E5m2},
    {'V', 1, DType::kInt4},
    {'V', 1, DType::kUint4},
    {'i', 1, DType::kQint8},
    {'u', 1, DType::kQuint8},
    {'i', 2, DType::kQint16},
    {'u', 2, DType::kQuint16},
    {'i', 4, DType::kQint32},
};

// Scans the Python literal in the header.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  bool Take(char c) {
    SkipSpace();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool TakeWord(absl::string_view word) {
    SkipSpace();
    return absl::ConsumePrefix(&text_, word);
  }
  bool TakeString(std::string& out) {
    SkipSpace();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const size_t end = text_.find(text_[0], 1);
    if (end == absl::string_view::npos) return false;
    out = std::string(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return true;
  }
  bool TakeNumber(int64_t& out) {
    SkipSpace();
    size_t n = 0;
    while (n < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[n]))) ++n;
    if (n == 0 || !absl::SimpleAtoi(text_.substr(0, n), &out)) return false;
    text_.remove_prefix(n);
    if (!text_.empty() && text_[0] == 'L') text_.remove_prefix(1);  // Python 2 wrote 3L
    return true;
  }
  bool AtEnd() {
    SkipSpace();
    return text_.empty();
  }

 private:
  void SkipSpace() {
    while (!text_.empty() && absl::ascii_isspace(static_cast<unsigned char>(text_[0]))) {
      text_.remove_prefix(1);
    }
  }
  absl::string_view text_;
};

absl::Status ParseDescr(const std::string& descr, NpyHeader& header) {
  const auto unknown = [&] {
    return Unimplemented("dtype '", descr, "' of NumPy is not supported");
  };
  if (descr.size() < 2) return unknown();
  const char order = descr[0];
  size_t count = 0;
  if (order != '<' && order != '>' && order != '|' && order != '=') return unknown();
  if (!absl::SimpleAtoi(descr.substr(2), &count) || count > (size_t{1} << 30)) return unknown();
  header.kind = descr[1];
  header.big_endian = order == '>';
  if (header.kind == 'S' || header.kind == 'U') {
    header.dtype = DType::kString;
    header.item_size = header.kind == 'U' ? 4 * count : count;
    return absl::OkStatus();
  }
  for (const Match& m : kDTypes) {
    if (m.kind != header.kind || m.size != count) continue;
    header.dtype = m.dtype;
    header.item_size = count;
    return absl::OkStatus();
  }
  return unknown();
}

bool ParseShape(Scanner& scan, Shape& shape) {
  if (!scan.Take('(')) return false;
  Shape out;
  while (!scan.Take(')')) {
    int64_t dim = 0;
    if (!scan.TakeNumber(dim) || static_cast<size_t>(out.rank()) >= kMostRank) return false;
    out.push_back(dim);
    if (scan.Take(',')) continue;
    if (!scan.Take(')')) return false;
    break;
  }
  shape = out;
  return true;
}

absl::StatusOr<NpyHeader> ReadHeader(size_t file_size, const NpyRead& read, size_t& consumed) {
  unsigned char head[12] = {};
  if (file_size < 10) return InvalidArgument("not a .npy file: too short");
  TENON_RETURN_IF_ERROR(read(head, 10));
  if (std::memcmp(head, kMagic, kMagicSize) != 0) return InvalidArgument("not a .npy file");
  size_t size = head[8] | static_cast<size_t>(head[9]) << 8;
  consumed = 10;
  if (head[6] == 2 || head[6] == 3) {
    if (file_size < 12) return InvalidArgument("not a .npy file: too short");
    TENON_RETURN_IF_ERROR(read(head + 10, 2));
    size |= static_cast<size_t>(head[10]) << 16 | static_cast<size_t>(head[11]) << 24;
    consumed = 12;
  } else if (head[6] != 1) {
    return Unimplemented(".npy version ", int{head[6]}, " is not supported");
  }
  if (size > kMostHeaderBytes || size > file_size - consumed) {
    return InvalidArgument("damaged .npy header: states a size of ", size, " bytes");
  }
  std::string text(size, '\0');
  TENON_RETURN_IF_ERROR(read(text.data(), size));
  consumed += size;
  return ParseNpyDictionary(text);
}

void SwapBytes(char* data, size_t bytes, size_t unit) {
  for (size_t i = 0; i + unit <= bytes; i += unit) std::reverse(data + i, data + i + unit);
}

void AppendUtf8(uint32_t c, std::string& out) {
  if (c > 0x10FFFF) c = 0xFFFD;
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out.push_back(static_cast<char>(kLead[more] | c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i)
    out.push_back(static_cast<char>(0x80 | (c >> (6 * i) & 0x3F)));
}

std::string StringAt(const NpyHeader& header, const char* item) {
  std::string out;
  if (header.kind == 'S') {
    out.assign(item, header.item_size);
  } else {
    for (size_t i = 0; i < header.item_size; i += 4) {
      uint32_t c;
      std::memcpy(&c, item + i, 4);
      AppendUtf8(header.big_endian ? __builtin_bswap32(c) : c, out);
    }
  }
  out.resize(out.find_last_not_of('\0') + 1);  // NumPy pads with NULs
  return out;
}

// The position in Fortran order of the element at `c_index` in C order.
template <typename Move>
void ForEachTransposed(const Shape& shape, Move move) {
  const int rank = shape.rank();
  std::vector<int64_t> index(static_cast<size_t>(rank), 0), stride(static_cast<size_t>(rank), 1);
  for (int i = 1; i < rank; ++i) {
    stride[static_cast<size_t>(i)] = stride[static_cast<size_t>(i - 1)] * shape[i - 1];
  }
  const int64_t n = shape.num_elements();
  int64_t from = 0;
  for (int64_t to = 0; to < n; ++to) {
    move(to, from);
    for (int d = rank - 1; d >= 0; --d) {
      const size_t k = static_cast<size_t>(d);
      from += stride[k];
      if (++index[k] < shape[d]) break;
      from -= stride[k] * shape[d];
      index[k] = 0;
    }
  }
}

absl::StatusOr<Tensor> ReadStrings(const NpyHeader& header, size_t bytes, const NpyRead& read) {
  std::string raw(bytes, '\0');
  TENON_RETURN_IF_ERROR(read(raw.data(), bytes));
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(DType::kString, header.shape));
  std::string* strings = out.data<std::string>();
  const auto take = [&](int64_t to, int64_t from) {
    strings[to] = StringAt(header, raw.data() + static_cast<size_t>(from) * header.item_size);
  };
  if (header.fortran_order) {
    ForEachTransposed(header.shape, take);
  } else {
    for (int64_t i = 0; i < out.num_elements(); ++i) take(i, i);
  }
  return out;
}

absl::StatusOr<Tensor> FromFortran(const Tensor& in, size_t item) {
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(in.dtype(), in.shape()));
  const char* src = in.data<char>();
  char* dst = out.data<char>();
  ForEachTransposed(in.shape(), [&](int64_t to, int64_t from) {
    std::memcpy(dst + static_cast<size_t>(to) * item, src + static_cast<size_t>(from) * item, item);
  });
  return out;
}

std::string HeaderBytes(const std::string& descr, const Shape& shape) {
  std::string dims;
  for (int64_t d : shape.dims()) absl::StrAppend(&dims, d, ", ");
  std::string text =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", dims, "), }");
  // Elements start at a multiple of 64, so that the file can be mapped.
  const bool long_form = text.size() > 60000;
  const size_t before = long_form ? 12 : 10;
  text.append(63 - (before + text.size()) % 64, ' ');
  text.push_back('\n');
  std::string out(kMagic, kMagicSize);
  out.push_back(long_form ? '\2' : '\1');
  out.push_back('\0');
  for (size_t i = 0; i < (long_form ? 4u : 2u); ++i) {
    out.push_back(static_cast<char>(text.size() >> (8 * i) & 0xFF));
  }
  return out + text;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyDictionary(absl::string_view text) {
  const auto damaged = [] { return InvalidArgument("damaged .npy header"); };
  NpyHeader header;
  Scanner scan(text);
  bool has_descr = false, has_order = false, has_shape = false;
  if (!scan.Take('{')) return damaged();
  while (!scan.Take('}')) {
    std::string key, descr;
    if (!scan.TakeString(key) || !scan.Take(':')) return damaged();
    if (key == "descr" && !has_descr) {
      if (!scan.TakeString(descr)) return Unimplemented("records are not supported");
      TENON_RETURN_IF_ERROR(ParseDescr(descr, header));
      has_descr = true;
    } else if (key == "fortran_order" && !has_order) {
      header.fortran_order = scan.TakeWord("True");
      if (!header.fortran_order && !scan.TakeWord("False")) return damaged();
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      if (!ParseShape(scan, header.shape)) return damaged();
      has_shape = true;
    } else {
      return damaged();
    }
    if (!scan.Take(',')) {
      if (!scan.Take('}')) return damaged();
      break;
    }
  }
  if (!has_descr || !has_order || !has_shape || !scan.AtEnd()) return damaged();
  return header;
}

absl::StatusOr<Tensor> ReadNpy(size_t file_size, const NpyRead& read) {
  size_t consumed = 0;
  TENON_ASSIGN_OR_RETURN(const NpyHeader header, ReadHeader(file_size, read, consumed));
  TENON_ASSIGN_OR_RETURN(const int64_t elements, header.shape.CheckedElements());
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(elements), header.item_size, &bytes) ||
      bytes != file_size - consumed) {
    return InvalidArgument("a .npy of shape ", header.shape.ToString(), " cannot have ",
                           file_size - consumed, " bytes of elements");
  }
  if (header.dtype == DType::kString) {
    // A file can promise any number of empty strings without storing a byte.
    if (header.item_size == 0 && elements > (int64_t{1} << 24)) {
      return InvalidArgument("a .npy of ", elements, " empty strings is refused");
    }
    return ReadStrings(header, bytes, read);
  }
  TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(header.dtype, header.shape));
  TENON_RETURN_IF_ERROR(read(t.raw(), bytes));
  if (header.big_endian) {
    SwapBytes(t.data<char>(), bytes, header.kind == 'c' ? header.item_size / 2 : header.item_size);
  }
  if (header.kind == 'b') {
    // A bool is only 0 or 1.
    for (int64_t i = 0; i < elements; ++i) t.data<uint8_t>()[i] = t.data<uint8_t>()[i] != 0;
  }
  if (header.fortran_order && header.shape.rank() > 1) return FromFortran(t, header.item_size);
  return t;
}

absl::StatusOr<NpyFile> FormatNpy(const Tensor& t) {
  if (t.dtype() == DType::kString) {
    size_t longest = 1;
    for (const std::string& s : t.flat<std::string>()) longest = std::max(longest, s.size());
    size_t bytes = 0;
    if (__builtin_mul_overflow(longest, static_cast<size_t>(t.num_elements()), &bytes) ||
        bytes > (size_t{1} << 40)) {
      return absl::ResourceExhaustedError("strings of very different lengths need too much space");
    }
    TENON_ASSIGN_OR_RETURN(Tensor padded,
                           Tensor::Allocate(DType::kUint8, Shape({static_cast<int64_t>(bytes)})));
    if (bytes > 0) std::memset(padded.raw(), 0, bytes);
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const std::string& s = t.data<std::string>()[i];
      std::memcpy(padded.data<char>() + static_cast<size_t>(i) * longest, s.data(), s.size());
    }
    return NpyFile{HeaderBytes(absl::StrCat("|S", longest), t.shape()), std::move(padded)};
  }
  for (const Match& m : kDTypes) {
    if (m.dtype != t.dtype()) continue;
    const char* order = m.size == 1 ? "|" : "<";
    return NpyFile{HeaderBytes(absl::StrCat(order, std::string(1, m.kind), m.size), t.shape()), t};
  }
  return Unimplemented("dtype ", Name(t.dtype()), " cannot be written as .npy");
}

}  // namespace tenon
