#include "primitive_cache/dnnl_primitive.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>

#include "env/team.h"

namespace tenon {
namespace {

// oneDNN does not report the size of a primitive's code and tables. Measured over convolutions of
// many sizes, the process grows by about this much per primitive.
constexpr size_t kEstimatedBytes = 96 << 10;

dnnl::algorithm AlgorithmOf(Eltwise e) {
  using dnnl::algorithm;
  switch (e) {
    case Eltwise::kRelu:
      return algorithm::eltwise_relu;
    case Eltwise::kClip:
      return algorithm::eltwise_clip;
    case Eltwise::kElu:
      return algorithm::eltwise_elu;
    case Eltwise::kTanh:
      return algorithm::eltwise_tanh;
    case Eltwise::kLogistic:
      return algorithm::eltwise_logistic;
    case Eltwise::kGeluErf:
      return algorithm::eltwise_gelu_erf;
    case Eltwise::kGeluTanh:
      return algorithm::eltwise_gelu_tanh;
    case Eltwise::kSwish:
      return algorithm::eltwise_swish;
    case Eltwise::kHardSwish:
      return algorithm::eltwise_hardswish;
    case Eltwise::kMish:
      return algorithm::eltwise_mish;
    case Eltwise::kExp:
      return algorithm::eltwise_exp;
    case Eltwise::kSqrt:
      return algorithm::eltwise_sqrt;
    case Eltwise::kSquare:
      return algorithm::eltwise_square;
    case Eltwise::kAbs:
      return algorithm::eltwise_abs;
  }
  return algorithm::undef;
}

// The memory objects and the stream of one execution. oneDNN's memory objects hold the pointer, so
// each concurrent execution needs its own set.
struct ArgumentSet {
  dnnl::stream stream;
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
};

class DnnlPrimitive final : public Primitive {
 public:
  explicit DnnlPrimitive(PrimitiveParts parts)
      : parts_(std::move(parts)), scratch_bytes_(parts_.scratchpad.get_size()) {}
  ~DnnlPrimitive() override {
    for (auto& slot : free_) delete slot.load();
  }

  absl::Status Execute(absl::Span<void* const> pointers, void* scratch) const override {
    if (pointers.size() != parts_.arguments.size()) {
      return Internal("primitive ", parts_.implementation, " takes ", parts_.arguments.size(),
                      " arguments, got ", pointers.size());
    }
    return Guarded([&]() -> absl::Status {
      const ThreadScope threads(parts_.threads);
      std::unique_ptr<ArgumentSet> set = Take();
      size_t i = 0;
      for (; i < pointers.size(); ++i) SetPointer(set->memories[i], pointers[i]);
      if (scratch_bytes_ > 0) SetPointer(set->memories[i], scratch);
      if (parts_.clear_scratch && scratch_bytes_ > 0) std::memset(scratch, 0, scratch_bytes_);
      const dnnl_status_t status =
          dnnl_primitive_execute(parts_.primitive.get(), set->stream.get(),
                                 static_cast<int>(set->arguments.size()), set->arguments.data());
      Give(std::move(set));
      if (status == dnnl_out_of_memory) return OutOfMemory();
      if (status != dnnl_success) {
        return Internal("oneDNN: executing ", parts_.implementation, " failed with status ",
                        static_cast<int>(status));
      }
      return absl::OkStatus();
    });
  }

  size_t scratch_bytes() const override { return scratch_bytes_; }
  const std::string& implementation() const override { return parts_.implementation; }
  std::shared_ptr<const PackedLayout> weights_layout() const override {
    return parts_.weights_layout;
  }
  size_t bytes() const override { return kEstimatedBytes; }

 private:
  static void SetPointer(dnnl::memory& memory, void* p) {
    dnnl_memory_set_data_handle(memory.get(), p);
  }

  std::unique_ptr<ArgumentSet> Make() const {
    auto set = std::make_unique<ArgumentSet>();
    set->stream = dnnl::stream(CpuEngine());
    auto add = [&set](int id, const dnnl::memory::desc& desc) {
      set->memories.emplace_back(desc, CpuEngine(), nullptr);
      set->arguments.push_back({id, set->memories.back().get()});
    };
    for (const PrimitiveArgument& a : parts_.arguments) add(a.id, a.desc);
    if (scratch_bytes_ > 0) add(DNNL_ARG_SCRATCHPAD, parts_.scratchpad);
    for (const onednn::ConstantArgument& c : parts_.constants) {
      set->arguments.push_back({c.id, c.value.get()});
    }
    return set;
  }

  std::unique_ptr<ArgumentSet> Take() const {
    for (auto& slot : free_) {
      if (ArgumentSet* set = slot.exchange(nullptr, std::memory_order_acquire)) {
        return std::unique_ptr<ArgumentSet>(set);
      }
    }
    return Make();
  }

  void Give(std::unique_ptr<ArgumentSet> set) const {
    for (auto& slot : free_) {
      ArgumentSet* expected = nullptr;
      if (slot.compare_exchange_strong(expected, set.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
        set.release();
        return;
      }
    }
  }

  const PrimitiveParts parts_;
  const size_t scratch_bytes_;
  mutable std::array<std::atomic<ArgumentSet*>, 4> free_{};
};

std::string LayoutKey(const TensorDesc& plain, const dnnl::memory::desc& packed,
                      absl::string_view sums) {
  std::string key = absl::StrCat("onednn:", static_cast<int>(plain.type));
  auto add = [&key](char tag, int64_t value) { absl::StrAppend(&key, std::string(1, tag), value); };
  for (size_t i = 0; i < plain.dims.size(); ++i) {
    add('d', plain.dims[i]);
    add('s', plain.strides[i]);
  }
  absl::StrAppend(&key, onednn::TextOf(packed));
  if (!onednn::BlocksOf(packed).has_value()) absl::StrAppend(&key, sums);
  return key;
}

class DnnlLayout final : public PackedLayout {
 public:
  DnnlLayout(const TensorDesc& plain, const dnnl::memory::desc& packed, absl::string_view sums,
             int threads)
      : DnnlLayout(tenon::ToDnnl(plain), packed, LayoutKey(plain, packed, sums), threads) {}
  DnnlLayout(const dnnl::memory::desc& plain, const dnnl::memory::desc& packed, std::string key,
             int threads)
      : plain_(plain), packed_(packed), key_(std::move(key)), threads_(threads) {}

  const std::string& key() const override { return key_; }
  size_t bytes() const override { return packed_.get_size(); }
  // Weights that are not constant are packed here at every Run; weights in the disk cache never
  // are.
  absl::Status Pack(const void* plain, void* packed) const override {
    TENON_RETURN_IF_ERROR(Guarded([&]() -> absl::Status {
      std::call_once(pack_made_, [&] { pack_ = MakeReorder(plain_, packed_, threads_); });
      return absl::OkStatus();
    }));
    return Run(*pack_, plain, packed);
  }
  // For signed 8-bit sources, sums of the weights follow the weights; Winograd's weights are
  // transformed.
  bool can_unpack() const override { return onednn::BlocksOf(packed_).has_value(); }
  absl::Status Unpack(const void* packed, void* plain) const override {
    return Guarded([&]() -> absl::Status {
      return Run(*MakeReorder(packed_, plain_, threads_), packed, plain);
    });
  }
  std::string description() const override {
    return absl::StrCat(onednn::BytesOf(plain_), onednn::BytesOf(packed_), key_);
  }

 private:
  static absl::Status Run(const Primitive& reorder, const void* from, void* to) {
    return Guarded([&]() -> absl::Status {
      dnnl::memory scratch;
      if (const auto bytes = static_cast<int64_t>(reorder.scratch_bytes()); bytes > 0) {
        scratch = dnnl::memory({{bytes}, dnnl::memory::data_type::u8, dnnl::memory::format_tag::a},
                               CpuEngine());
      }
      return reorder.Execute({const_cast<void*>(from), to},
                             scratch ? scratch.get_data_handle() : nullptr);
    });
  }

  const dnnl::memory::desc plain_;
  const dnnl::memory::desc packed_;
  const std::string key_;
  const int threads_;
  mutable std::once_flag pack_made_;
  mutable std::shared_ptr<const Primitive> pack_;
};

}  // namespace

absl::Status ErrorFrom(const dnnl::error& e) {
  const std::string message = absl::StrCat("oneDNN: ", e.what());
  if (e.status == dnnl_unimplemented) return absl::UnimplementedError(message);
  if (e.status == dnnl_out_of_memory) return absl::ResourceExhaustedError(message);
  // Most "invalid arguments" errors are combinations that this version does not support.
  if (e.status == dnnl_invalid_arguments) return absl::UnimplementedError(message);
  // Code generation failed: some chains of post-ops outgrow a kernel's buffer.
  if (e.status == dnnl_runtime_error) return absl::UnimplementedError(message);
  return absl::InternalError(message);
}

void ClearLibraryCache() noexcept {
  int capacity = 0;
  if (dnnl_get_primitive_cache_capacity(&capacity) != dnnl_success) return;
  dnnl_set_primitive_cache_capacity(0);
  dnnl_set_primitive_cache_capacity(capacity);
}

dnnl::memory::data_type ToDnnl(ElementType type) {
  using data_type = dnnl::memory::data_type;
  switch (type) {
    case ElementType::kF32:
      return data_type::f32;
    case ElementType::kBf16:
      return data_type::bf16;
    case ElementType::kS32:
      return data_type::s32;
    case ElementType::kS8:
      return data_type::s8;
    case ElementType::kU8:
      return data_type::u8;
  }
  return data_type::undef;
}

dnnl::memory::dims ToDnnl(const Dims& dims) { return dnnl::memory::dims(dims.begin(), dims.end()); }

dnnl::memory::desc ToDnnl(const TensorDesc& desc) {
  return dnnl::memory::desc(ToDnnl(desc.dims), ToDnnl(desc.type), ToDnnl(desc.strides));
}

dnnl::memory::desc AnyLayout(const TensorDesc& desc) {
  return dnnl::memory::desc(ToDnnl(desc.dims), ToDnnl(desc.type), dnnl::memory::format_tag::any);
}

PostOps MakePostOps(absl::Span<const PostOpSpec> specs) {
  PostOps made;
  dnnl::post_ops ops;
  auto append_binary = [&](dnnl::algorithm algorithm, const TensorDesc& operand) {
    const int index = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len());
    made.arguments.push_back({index | DNNL_ARG_SRC_1, ToDnnl(operand)});
    ops.append_binary(algorithm, made.arguments.back().desc);
  };
  for (const PostOpSpec& p : specs) {
    switch (p.kind) {
      case PostOpSpec::Kind::kEltwise:
        onednn::AppendEltwise(ops, AlgorithmOf(p.eltwise), p.scale, p.alpha, p.beta);
        break;
      case PostOpSpec::Kind::kSum:
        onednn::AppendSum(
            ops, p.scale,
            p.operand.dims.empty() ? dnnl::memory::data_type::undef : ToDnnl(p.operand.type));
        break;
      case PostOpSpec::Kind::kBinaryAdd:
        append_binary(dnnl::algorithm::binary_add, p.operand);
        break;
      case PostOpSpec::Kind::kBinaryMul:
        append_binary(dnnl::algorithm::binary_mul, p.operand);
        break;
    }
  }
  made.attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  made.attr.set_post_ops(ops);
  return made;
}

ThreadScope::ThreadScope(int threads) {
  if (threads > 1) CountOthersRegion();
  const int now = omp_get_max_threads();
  if (now == threads) return;
  before_ = now;
  omp_set_num_threads(threads);
}
ThreadScope::~ThreadScope() {
  if (before_ != 0) omp_set_num_threads(before_);
}

std::shared_ptr<const Primitive> WrapPrimitive(PrimitiveParts parts) {
  return std::make_shared<DnnlPrimitive>(std::move(parts));
}

std::shared_ptr<const PackedLayout> LayoutFor(const TensorDesc& plain,
                                              const dnnl::memory::desc& packed, int threads,
                                              absl::string_view sums) {
  if (packed == ToDnnl(plain)) return nullptr;
  return std::make_shared<DnnlLayout>(plain, packed, sums, threads);
}

absl::StatusOr<std::shared_ptr<const PackedLayout>> LayoutFromDescription(
    absl::string_view description, size_t plain_bytes, size_t packed_bytes, int threads) {
  return Guarded([&]() -> absl::StatusOr<std::shared_ptr<const PackedLayout>> {
    const size_t size = onednn::BytesPerDesc();
    const auto plain = onednn::DescFromBytes(description.substr(0, size));
    const auto packed =
        plain ? onednn::DescFromBytes(description.substr(std::min(size, description.size()), size))
              : std::nullopt;
    if (!packed || onednn::Rank(*packed) != onednn::Rank(*plain) ||
        plain->get_size() != plain_bytes || packed->get_size() != packed_bytes) {
      return InvalidArgument("not the description of a layout");
    }
    return std::make_shared<DnnlLayout>(*plain, *packed, std::string(description.substr(2 * size)),
                                        threads);
  });
}

}  // namespace tenon
