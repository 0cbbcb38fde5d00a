// The target `c_api` in parts, as the interface is: the objects that its calls share, and the
// calls.
#ifndef TENON_TESTS_FUZZ_TARGETS_C_API_H_
#define TENON_TESTS_FUZZ_TARGETS_C_API_H_

#include <array>
#include <cstdint>
#include <string>

#include "include/tenon/tenon.h"
#include "tests/fuzz/targets/byte_reader.h"

namespace tenon::c_api_fuzz {

// Objects of one kind. An empty slot is a null pointer, which calls must refuse or ignore.
template <typename T>
class Pool {
 public:
  explicit Pool(void (*release)(T*)) : release_(release) {}
  ~Pool() {
    for (T* object : objects_) Free(object);
  }
  T*& At(ByteReader& bytes) { return objects_[bytes.Below(objects_.size())]; }
  // Mostly one that is not null, if there is any.
  T* Live(ByteReader& bytes) {
    const uint8_t from = bytes.Byte();
    for (size_t i = 0; i < objects_.size() && from < 240; ++i) {
      T* const object = objects_[(from + i) % objects_.size()];
      if (object != nullptr) return object;
    }
    return objects_[from % objects_.size()];
  }
  // A free place for a new object.
  T** Empty(ByteReader& bytes) {
    T*& place = At(bytes);
    Free(place);
    place = nullptr;
    return &place;
  }

 private:
  void Free(T* object) {
    if (object != nullptr) release_(object);
  }
  std::array<T*, 4> objects_ = {};
  void (*const release_)(T*);
};

// What lives between calls, and the bytes that choose the next ones.
struct Objects {
  explicit Objects(ByteReader& bytes) : bytes(bytes) {}
  ~Objects() {
    FreeGenerator();
    tenon_profile_free(profile);
  }
  // Before its session, or what its limits refer to, is freed.
  void FreeGenerator() {
    tenon_generator_free(generator);
    generator = nullptr;
  }
  // A dimension or an index, often a wrong one.
  int64_t Dim() { return static_cast<int64_t>(bytes.Byte() % 6) - 1; }
  template <size_t n>
  const char* Pick(const char* const (&names)[n]) {
    return names[bytes.Below(n)];
  }

  ByteReader& bytes;
  // Handles share memory with tensors, which may not be written while a pending call reads it: once
  // there is a handle, no tensor is written.
  bool may_write = true;
  Pool<tenon_tensor> tensors{tenon_tensor_free};
  Pool<tenon_attrs> attrs{tenon_attrs_free};
  Pool<tenon_handle> handles{tenon_handle_free};
  Pool<tenon_eager> eagers{tenon_eager_free};
  Pool<tenon_model> models{tenon_model_free};
  Pool<tenon_session> sessions{tenon_session_free};
  Pool<tenon_cancel> cancels{tenon_cancel_free};
  tenon_profile* profile = nullptr;
  tenon_generator* generator = nullptr;
};

// Frees a status. An internal error, or one without a message, is a finding.
void Done(tenon_status* status);
// The same, and checks and frees the text that the call gave, null if it failed.
void Done(tenon_status* status, tenon_text* text);
// The same for `call(&text)`.
template <typename Call>
void GetText(const Call& call) {
  tenon_text* text = nullptr;
  tenon_status* const status = call(&text);
  Done(status, text);
}

// A path that says nothing, or one of a small model in tests/models.
std::string ModelPath(Objects& o);
// All fields but cache_dir: the disk cache writes in a thread of its own, and `cache_file` is about
// what it reads.
tenon_session_options DrawSessionOptions(Objects& o);

// Each makes a call, or some that belong together, with what the bytes choose.
void CreateTensor(Objects& o);
void CreateFittingTensor(Objects& o);
void ReadTensor(Objects& o);
void SetString(Objects& o);

void ParseModel(Objects& o);
void OpenModel(Objects& o);
void AskModel(Objects& o);

void CreateSession(Objects& o);
void CreateSessionFromPath(Objects& o);
void RunSession(Objects& o);
void RunSessionInto(Objects& o);
void AskSession(Objects& o);
void CheckRows(Objects& o);
void Cancel(Objects& o);
void ReadVariable(Objects& o);
void AssignVariable(Objects& o);

void SetAttr(Objects& o);
void SetMoreAttrs(Objects& o);
void CreateEager(Objects& o);
void Execute(Objects& o);
void Submit(Objects& o);
void CreateHandle(Objects& o);
void ReadHandle(Objects& o);

void CreateGenerator(Objects& o);
void Generate(Objects& o);
void SetGenerator(Objects& o);

void Profile(Objects& o);
void AskDevices(Objects& o);
void Explain(Objects& o);
void Explore(Objects& o);
void ExplorePage(Objects& o);

void Quantize(Objects& o);

}  // namespace tenon::c_api_fuzz

#endif  // TENON_TESTS_FUZZ_TARGETS_C_API_H_
