// The C interface, called in any order that its header allows: each byte chooses a call, on objects
// that earlier calls made. Several objects of each kind live at once; some arguments are null, out
// of range or of the wrong kind.
#include <array>
#include <cmath>

#include "include/tenon/tenon.h"
#include "tests/fuzz/targets/byte_reader.h"
#include "tests/fuzz/targets/target.h"

namespace tenon {
namespace {

constexpr int kMostCalls = 64;
constexpr size_t kEach = 4;

// A GraphDef in text form: two inputs, two outputs, a layer and a variable that a run increases.
constexpr char kModel[] = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } dim { size: 2 } }
    float_val: 1 float_val: 2 float_val: 3 float_val: 4 } } } }
node { name: "m" op: "MatMul" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "y" op: "Relu" input: "m" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "s" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "shape" value { shape { } } } }
node { name: "l" op: "StringLength" input: "s" }
)";

// Objects of one kind. An empty slot is a null pointer, which calls must refuse or ignore.
template <typename T>
class Pool {
 public:
  explicit Pool(void (*release)(T*)) : release_(release) {}
  ~Pool() {
    for (T* object : objects_) Free(object);
  }
  T*& At(ByteReader& bytes) { return objects_[bytes.Below(kEach)]; }
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
  std::array<T*, kEach> objects_ = {};
  void (*const release_)(T*);
};

class Program {
 public:
  explicit Program(ByteReader& bytes) : bytes_(bytes) {}
  ~Program() {
    FreeGenerator();
    tenon_profile_free(profile_);
  }

  void Run() {
    for (int i = 0; i < kMostCalls && !bytes_.empty(); ++i) Step();
  }

 private:
  static void Done(tenon_status* status) {
    if (tenon_status_code(status) == TENON_INTERNAL) FuzzFailure(tenon_status_message(status));
    if (status != nullptr && *tenon_status_message(status) == '\0') FuzzFailure("no message");
    tenon_status_free(status);
  }

  void Step() {
    switch (bytes_.Below(24)) {
      case 0:
      case 1:
        return CreateTensor();
      case 2:
        return ReadTensor();
      case 3:
        return SetString();
      case 4:
        return ParseModel();
      case 5:
        return AskModel();
      case 6:
        return CreateSession();
      case 7:
      case 8:
        return RunSession();
      case 9:
        return AskSession();
      case 10:
      case 11:
        return SetAttr();
      case 12:
        return CreateEager();
      case 13:
      case 14:
        return Execute();
      case 15:
      case 16:
        return Submit();
      case 17:
        return Done(tenon_handle_create(tensors_.At(bytes_), handles_.Empty(bytes_)));
      case 18:
        return ReadHandle();
      case 19:
        return Profile();
      case 20:
        return Free();
      case 21:
        return CreateGenerator();
      case 22:
        return Generate();
      default:
        return Variables();
    }
  }

  void CreateTensor() {
    const int64_t dims[] = {Dim(), Dim(), Dim()};
    const int rank = static_cast<int>(bytes_.Below(5)) - 1;
    const auto dtype = static_cast<tenon_dtype>(bytes_.Below(25));
    tenon_tensor** place = tensors_.Empty(bytes_);
    if (bytes_.Bool()) {
      static std::array<float, 64> memory = {};
      const size_t size = bytes_.Byte();
      const auto release = [](void*) {};
      return Done(tenon_tensor_view(dtype, dims, std::min(rank, 3), memory.data(),
                                    std::min<size_t>(size, sizeof(memory)), release, nullptr,
                                    place));
    }
    Done(tenon_tensor_create(dtype, dims, std::min(rank, 3), place));
    if (*place != nullptr && tenon_tensor_data(*place) != nullptr) {
      std::memset(tenon_tensor_data(*place), 0, tenon_tensor_bytes(*place));
    }
  }
  int64_t Dim() { return static_cast<int64_t>(bytes_.Byte() % 6) - 1; }

  void ReadTensor() {
    tenon_tensor* t = tensors_.At(bytes_);
    if (t == nullptr) return;
    volatile int64_t sum = 0;
    for (int d = 0; d < tenon_tensor_rank(t); ++d) sum = sum + tenon_tensor_dims(t)[d];
    const auto* data = static_cast<const char*>(tenon_tensor_data(t));
    for (size_t i = 0; data != nullptr && i < tenon_tensor_bytes(t); ++i) sum = sum + data[i];
    const char* text = nullptr;
    size_t size = 0;
    Done(tenon_tensor_get_string(t, Dim(), &text, &size));
    for (size_t i = 0; i < size; ++i) sum = sum + text[i];
  }

  void SetString() {
    tenon_tensor* t = tensors_.At(bytes_);
    if (t == nullptr) return;
    const absl::string_view text = bytes_.Take(bytes_.Below(8));
    Done(tenon_tensor_set_string(t, Dim(), text.data(), text.size()));
  }

  // The bytes must live as long as the model: a constant.
  void ParseModel() {
    const size_t size = bytes_.Byte() < 240 ? sizeof(kModel) - 1 : bytes_.Below(sizeof(kModel));
    Done(tenon_model_parse(kModel, size, models_.Empty(bytes_)));
  }

  void AskModel() {
    const tenon_model* m = models_.At(bytes_);
    if (m == nullptr) return;
    const int signature = static_cast<int>(Dim()), index = static_cast<int>(Dim());
    (void)tenon_model_format(m);
    (void)tenon_model_num_signatures(m);
    (void)tenon_model_signature_name(m, signature);
    (void)tenon_model_num_outputs(m, signature);
    tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
    Done(tenon_model_input(m, signature, index, &spec));
    Done(tenon_model_output(m, signature, index, &spec));
  }

  void CreateSession() {
    tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
    options.threads = 1;
    options.onednn_opts = static_cast<int>(bytes_.Below(3)) - 1;
    const char* const fetches[] = {nullptr, "y:0", "m:0,l:0", "x", "", "z", ",", "y:1"};
    options.fetches = fetches[bytes_.Below(std::size(fetches))];
    const char* const feeds[] = {nullptr, "m:0", "w", "", "y:0,x:0"};
    options.feeds = feeds[bytes_.Below(std::size(feeds))];
    const char* const precisions[] = {nullptr, "fp32", "bf16", "int8", ""};
    options.precision = precisions[bytes_.Below(std::size(precisions))];
    const tenon_model* model = models_.At(bytes_);
    if (model == nullptr) return;
    FreeGenerator();  // it refers to its session
    Done(tenon_session_create_from_model(model, &options, sessions_.Empty(bytes_)));
  }

  void RunSession() {
    tenon_session* s = sessions_.At(bytes_);
    if (s == nullptr) return;
    const tenon_tensor* inputs[] = {tensors_.At(bytes_), tensors_.At(bytes_)};
    const int num_inputs = static_cast<int>(bytes_.Below(3));
    tenon_tensor* outputs[3] = {};
    const int num_outputs = bytes_.Byte() < 200 ? std::min(tenon_session_num_outputs(s), 3)
                                                : static_cast<int>(bytes_.Below(4));
    const uint8_t how = bytes_.Byte();
    if (how < 96) {
      Done(tenon_session_run(s, inputs, num_inputs, outputs, num_outputs));
    } else {
      const char* const names[] = {"x", "s:0", "y", "none"};
      const char* input_names[] = {names[how % 4], names[how / 4 % 4]};
      tenon_run_options options = TENON_RUN_OPTIONS_INIT;
      options.timeout_ns = how % 16 == 0 ? -1 : 0;
      options.profile = profile_;
      Done(tenon_session_run_with(s, &options, how % 2 == 0 ? input_names : nullptr, inputs,
                                  num_inputs, nullptr, outputs, num_outputs));
    }
    for (tenon_tensor* output : outputs) {
      if (output != nullptr) *tensors_.Empty(bytes_) = output;
    }
  }

  void AskSession() {
    const tenon_session* s = sessions_.At(bytes_);
    if (s == nullptr) return;
    const int index = static_cast<int>(Dim());
    const int64_t* dims = nullptr;
    (void)tenon_session_input_name(s, index);
    (void)tenon_session_output_name(s, index);
    (void)tenon_session_input_dtype(s, index);
    (void)tenon_session_input_shape(s, index, &dims);
    (void)tenon_session_output_shape(s, index, &dims);
    tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
    Done(tenon_session_input(s, index, &spec));
    Done(tenon_session_output(s, index, &spec));
    tenon_text* report = nullptr;
    Done(tenon_session_report(s, &report));
    tenon_text_free(report);
  }

  void SetAttr() {
    tenon_attrs*& attrs = attrs_.At(bytes_);
    if (attrs == nullptr) attrs = tenon_attrs_create();
    const char* const names[] = {"T", "N", "axis", "transpose_a", "Tidx", "keep_dims", "shape", ""};
    const char* name = names[bytes_.Below(std::size(names))];
    const int64_t ints[] = {Dim(), Dim()};
    switch (bytes_.Below(7)) {
      case 0:
        return Done(tenon_attrs_set_int(attrs, name, ints[0]));
      case 1:
        return Done(tenon_attrs_set_bool(attrs, name, static_cast<int>(ints[0])));
      case 2:
        return Done(tenon_attrs_set_type(attrs, name, static_cast<tenon_dtype>(bytes_.Byte())));
      case 3:
        return Done(
            tenon_attrs_set_shape(attrs, name, ints, static_cast<int>(bytes_.Below(4)) - 1));
      case 4:
        return Done(tenon_attrs_set_ints(attrs, name, ints, bytes_.Below(3)));
      case 5:
        return Done(tenon_attrs_set_tensor(attrs, name, tensors_.At(bytes_)));
      default:
        return Done(tenon_attrs_set_string(attrs, name, "text", bytes_.Below(5)));
    }
  }

  void CreateEager() {
    tenon_eager_options options = TENON_EAGER_OPTIONS_INIT;
    options.threads = 1;
    options.onednn_opts = static_cast<int>(bytes_.Below(3)) - 1;
    Done(tenon_eager_create(&options, eagers_.Empty(bytes_)));
  }

  const char* Op() {
    static const char* const ops[] = {"Relu",   "AddV2",       "MatMul", "Shape",   "Concat",
                                      "Unpack", "Where",       "Sum",    "Reshape", "Cast",
                                      "Assert", "NoSuchOp",    "Pack",   "Split",   "_FusedConv2D",
                                      "",       "StringLength"};
    return ops[bytes_.Below(std::size(ops))];
  }

  void Execute() {
    const char* op = Op();
    const tenon_tensor* inputs[] = {tensors_.At(bytes_), tensors_.At(bytes_)};
    const int num_inputs = static_cast<int>(bytes_.Below(3));
    tenon_tensor* outputs[4] = {};
    int num_outputs = static_cast<int>(bytes_.Below(5));
    Done(tenon_eager_execute(eagers_.At(bytes_), op, inputs, num_inputs, attrs_.At(bytes_), outputs,
                             &num_outputs));
    for (tenon_tensor* output : outputs) {
      if (output != nullptr) *tensors_.Empty(bytes_) = output;
    }
  }

  void Submit() {
    const char* op = Op();
    const tenon_handle* inputs[] = {handles_.At(bytes_), handles_.At(bytes_)};
    const int num_inputs = static_cast<int>(bytes_.Below(3));
    tenon_handle* outputs[4] = {};
    int num_outputs = static_cast<int>(bytes_.Below(5));
    Done(tenon_eager_submit(eagers_.At(bytes_), op, inputs, num_inputs, attrs_.At(bytes_), outputs,
                            &num_outputs));
    for (tenon_handle* output : outputs) {
      if (output != nullptr) *handles_.Empty(bytes_) = output;
    }
  }

  void ReadHandle() {
    const tenon_handle* h = handles_.At(bytes_);
    if (h != nullptr) (void)tenon_handle_ready(h);
    Done(tenon_handle_read(h, tensors_.Empty(bytes_)));
  }

  void Profile() {
    if (profile_ == nullptr) profile_ = tenon_profile_create();
    tenon_text* text = nullptr;
    Done(tenon_profile_report(profile_, &text));
    tenon_text_free(text);
    text = nullptr;
    Done(tenon_profile_trace(profile_, &text));
    tenon_text_free(text);
    if (bytes_.Bool()) tenon_profile_clear(profile_);
  }

  // Models, tensors and contexts may go before what was made from them.
  void Free() {
    switch (bytes_.Below(5)) {
      case 0:
        (void)tensors_.Empty(bytes_);
        return;
      case 1:
        (void)models_.Empty(bytes_);
        return;
      case 2:
        (void)eagers_.Empty(bytes_);
        return;
      case 3:
        (void)handles_.Empty(bytes_);
        return;
      default:
        FreeGenerator();
        (void)sessions_.Empty(bytes_);
    }
  }

  void FreeGenerator() {
    if (generator_ != nullptr) tenon_generator_free(generator_);
    generator_ = nullptr;
  }

  void CreateGenerator() {
    FreeGenerator();
    tenon_generator_options options = TENON_GENERATOR_OPTIONS_INIT;
    const char* const names[] = {nullptr, "x", "y", "s", "none"};
    options.tokens = names[bytes_.Below(std::size(names))];
    options.logits = names[bytes_.Below(std::size(names))];
    options.temperature = bytes_.Bool() ? 1 : 0;
    Done(tenon_generator_create(sessions_.At(bytes_), &options, &generator_));
  }

  void Generate() {
    const int64_t tokens[] = {Dim(), Dim()};
    Done(tenon_generator_prompt(generator_, tokens, bytes_.Below(3)));
    int64_t token = 0;
    Done(tenon_generator_next(generator_, &token));
    if (bytes_.Bool()) Done(tenon_generator_reset(generator_));
  }

  void Variables() {
    const tenon_session* s = sessions_.At(bytes_);
    if (s == nullptr) return;
    (void)tenon_session_variable_name(s, static_cast<int>(Dim()));
    Done(tenon_session_read_variable(s, "v", tensors_.Empty(bytes_)));
  }

  ByteReader& bytes_;
  Pool<tenon_tensor> tensors_{tenon_tensor_free};
  Pool<tenon_attrs> attrs_{tenon_attrs_free};
  Pool<tenon_handle> handles_{tenon_handle_free};
  Pool<tenon_eager> eagers_{tenon_eager_free};
  Pool<tenon_model> models_{tenon_model_free};
  Pool<tenon_session> sessions_{tenon_session_free};
  tenon_profile* profile_ = nullptr;
  tenon_generator* generator_ = nullptr;
};

int FuzzCApi(const uint8_t* data, size_t size) {
  ByteReader bytes(data, size);
  Program(bytes).Run();
  return 0;
}

const FuzzTarget kTarget("c_api", FuzzCApi);

}  // namespace
}  // namespace tenon
