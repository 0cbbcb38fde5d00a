#include "tests/sweep/known.h"

namespace tenon::sweep {
namespace {

// clang-format off
constexpr const char* kProblems[] = {
    R"(p: Conv2DBackpropFilter(f32[1,6,8,3], i32[4]=const:(1,1,3,8), f32[1,3,4,8]) T=f32 strides=[1,2,2,1] padding="SAME")",
    R"(p: Conv2DBackpropFilter(f32[23,21,3,4], i32[4]=const:(1,1,4,10), f32[23,7,1,10]) T=f32 strides=[1,3,3,1] padding="SAME")",
    R"(p: _Conv2DBackpropFilterWithBias(f32[19,20,15,12], i32[4]=const:(1,1,12,7), f32[19,10,15,7]) T=f32 strides=[1,2,1,1] padding="SAME")",
    R"(p: _FusedConv2D(f32[1,8,8,16], f32[3,3,16,16]=const, f32[16], f32[1,14,8,16]) T=f32 strides=[1,1,1,1] padding="EXPLICIT" explicit_paddings=[0,0,4,4,1,1,0,0] num_args=2 fused_ops=["BiasAdd","Add"])",
    R"(p: _FusedConv2D(bf16[1,5,3,11], bf16[1,1,11,7]=const, bf16[7], bf16[1,2,1,7]) T=bf16 strides=[1,3,3,1] padding="EXPLICIT" explicit_paddings=[0,0,1,0,0,0,0,0] num_args=2 fused_ops=["BiasAdd","Add","Elu"])",
    R"(p: _FusedDepthwiseConv2dNative(f32[1,22,6,7], f32[2,2,7,1]=const, f32[7], f32[1,11,3,7]) T=f32 strides=[1,2,2,1] padding="SAME" dilations=[1,2,2,1] num_args=2 fused_ops=["BiasAdd","Add"])",
    R"(p: _Conv2DBackpropFilterWithBias(bf16[3,6,2,2], i32[4]=const:(3,3,2,65), bf16[3,2,1,65]) T=bf16 strides=[1,3,3,1] padding="SAME")",
    R"(p: Conv2DBackpropFilter(bf16[1,16,2,1], i32[4]=const:(1,1,1,1), bf16[1,6,1,1]) T=bf16 strides=[1,3,3,1] padding="SAME")",
    R"(p: _Conv2DBackpropFilterWithBias(bf16[1,9,34,24], i32[4]=const:(3,3,8,12), bf16[1,9,34,12]) T=bf16 strides=[1,1,1,1] padding="SAME" dilations=[1,2,2,1])",
    R"(p: Conv3DBackpropFilterV2(bf16[2,4,1,4,14], i32[5]=const:(3,3,3,14,17), bf16[2,4,1,2,17]) T=bf16 strides=[1,1,3,3,1] padding="SAME")",
    R"(p: Conv3DBackpropFilterV2(bf16[1,3,4,4,7], i32[5]=const:(3,3,3,7,64), bf16[1,2,2,2,64]) T=bf16 strides=[1,2,2,2,1] padding="SAME")",
    R"(p: Conv2DBackpropInput(i32[4]=const:(1,3,10,12), bf16[1,1,12,13]=const, bf16[1,3,10,13]) T=bf16 strides=[1,1,1,1] padding="VALID")",
    R"(p: Conv2DBackpropInput(i32[4]=const:(1,5,1,65), bf16[1,1,65,12]=const, bf16[1,5,1,12]) T=bf16 strides=[1,1,1,1] padding="SAME")",
    R"(p: _FusedConv3D(bf16[3,6,5,6,7], bf16[1,1,1,7,8], bf16[8], bf16[3,6,5,6,8]) T=bf16 strides=[1,1,1,1,1] padding="SAME" num_args=2 fused_ops=["BiasAdd","Mul","Relu6"])",
    R"(p: _FusedConv2D(bf16[1,9,34,24], bf16[3,3,8,12], bf16[12]) T=bf16 strides=[1,1,1,1] padding="SAME" dilations=[1,2,2,1] num_args=1 fused_ops=["BiasAdd","_Mish"])",
    R"(p: _FusedQuantizedConv2D(qi8[1,8,1,63]=uniform(-128,127), qi8[2,2,63,129]=const:uniform(-127,127), f32[129]=uniform(-6,6), f32[]=(-6), f32[]=(6), f32[129]=uniform(-2,-1), f32[129]=uniform(0.25,1), f32[]=(-60), f32[]=(60)) Tdevice_inputs=[qi8,qi8,f32] Thost_inputs=[f32,f32,f32,f32,f32,f32] Tdevice_outputs=[qi8] Thost_outputs=[f32,f32] fused_ops=["BiasAdd","Requantize"] Tinput=qi8 Tfilter=qi8 Tbias=f32 Tsummand=qu8 out_type=qi8 strides=[1,1,1,1] padding="SAME" dilations=[1,2,2,1] data_zero=0)",
    R"(p: _FusedQuantizedDepthwiseConv2D(qi8[21,6,28,1]=uniform(-128,127), qi8[3,3,1,1]=const:uniform(-127,127), f32[1]=uniform(-6,6), f32[]=(-6), f32[]=(6), f32[]=uniform(-2,-1), f32[]=uniform(0.25,1), f32[]=(-60), f32[]=(60)) Tdevice_inputs=[qi8,qi8,f32] Thost_inputs=[f32,f32,f32,f32,f32,f32] Tdevice_outputs=[qi8] Thost_outputs=[f32,f32] fused_ops=["BiasAdd","Requantize"] Tinput=qi8 Tfilter=qi8 Tbias=f32 Tsummand=qu8 out_type=qi8 strides=[1,3,3,1] padding="SAME" dilations=[1,1,1,1] data_zero=0)",
    R"(p: _FusedConv2D(f32[3,7,1,1], f32[1,1,1,4]=const, f32[4]) T=f32 strides=[1,2,2,1] padding="EXPLICIT" explicit_paddings=[0,0,1,3,3,1,0,0] num_args=1 fused_ops=["BiasAdd"])",
    R"(p: Conv2D(f32[3,6,2,1], f32[1,3,1,13]=const) T=f32 strides=[1,1,2,1] padding="SAME")",
    R"(p: Conv3D(bf16[1,1,2,4,1], bf16[2,1,2,1,24]=const) T=bf16 strides=[1,1,1,1,1] padding="SAME")",
    R"(p: Conv2D(bf16[1,6,8,24], bf16[2,2,24,33]=const) T=bf16 strides=[1,2,2,1] padding="EXPLICIT" explicit_paddings=[0,0,0,3,0,0,0,0])",
    R"(p: _FusedConv2D(bf16[1,22,11,33], bf16[1,5,33,7]=const, bf16[7]) T=bf16 strides=[1,3,3,1] padding="VALID" num_args=1 fused_ops=["BiasAdd"])",
    R"(p: Conv2DBackpropFilter(bf16[1,24,4,65], i32[4]=const:(3,3,65,10), bf16[1,24,4,10]) T=bf16 strides=[1,1,1,1] padding="SAME" dilations=[1,3,3,1])",
    R"(p: _FusedQuantizedConv2D(qi8[15,5,10,3]=uniform(-128,127), qi8[6,6,3,10]=const:uniform(-127,127), f32[10]=uniform(-6,6), f32[]=(-6), f32[]=(6), f32[10]=uniform(-2,-1), f32[10]=uniform(0.25,1), f32[]=(0), f32[]=(60)) Tdevice_inputs=[qi8,qi8,f32] Thost_inputs=[f32,f32,f32,f32,f32,f32] Tdevice_outputs=[qu8] Thost_outputs=[f32,f32] fused_ops=["BiasAdd","Relu","Requantize"] Tinput=qi8 Tfilter=qi8 Tbias=f32 Tsummand=qu8 out_type=qu8 strides=[1,1,1,1] padding="SAME" dilations=[1,3,3,1] data_zero=16)",
    R"(p: BatchMatMulV2(f32[3,2,100,130], f32[1,130,1]=const) T=f32 adj_x=false adj_y=false)",
    R"(p: _FusedMatMul(f32[257,257], f32[1,257], f32[1]) T=f32 transpose_a=false transpose_b=true num_args=1 fused_ops=["BiasAdd","_Mish"])",
    R"(p: _Recurrence(f32[12,1,3], f32[1,3]=const:uniform(-0.1,0.1), f32[1,1]) T=f32 N=1 num_states=1 num_biases=0 cell="gru_reset_before" activations=["sigmoid","sigmoid","tanh"] time_major=true y_time_major=true reverse=[1])",
    R"(p: _FusedConv2D(f32[23,10,9,35], f32[3,3,10,6]=const, f32[6]) T=f32 strides=[1,1,1,1] padding="SAME" dilations=[1,1,1,1] data_format="NCHW" num_args=1 fused_ops=["BiasAdd","Tanh"])",
    R"(p: MatMul(f32[3001,130], f32[130,1]=const) T=f32 transpose_a=false transpose_b=false)",
    R"(p: MatMul(f32[1,3001], f32[3001,1003]) T=f32 transpose_a=false transpose_b=false)",
    R"(p: MatMul(f32[1,300], f32[2003,300]) T=f32 transpose_a=false transpose_b=true)",
    R"(p: _FusedConv3D(f32[1,2,4,5,6], f32[1,1,1,2,32]=const, f32[32], f32[1,32,2,2,2]) T=f32 strides=[1,1,3,3,3] padding="SAME" dilations=[1,1,1,1,1] data_format="NCDHW" num_args=2 fused_ops=["BiasAdd","Mul","Tanh"])",
    R"(p: _FusedConv3D(bf16[3,3,5,1,128], bf16[1,1,1,128,2], bf16[2], bf16[3,3,5,1,2]) T=bf16 strides=[1,1,1,1,1] padding="SAME" dilations=[1,1,1,1,1] data_format="NDHWC" num_args=2 fused_ops=["BiasAdd","Mul","Relu"])",
};
// clang-format on

}  // namespace

absl::Span<const char* const> KnownProblems() { return kProblems; }

}  // namespace tenon::sweep
