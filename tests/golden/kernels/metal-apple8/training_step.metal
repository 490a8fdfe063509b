// opts: none
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
kernel void r_4_2_3(device float* data0 [[buffer(0)]], device float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], device const float* data3 [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int gidx1 = int(group.y);
  int alu0 = gidx1 * 3;
  int gidx0 = int(group.x);
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    acc0 = fma(data2[alu0 + ridx2], data3[gidx0 + ridx2 * 2], acc0);
  }
  float alu1 = max_f32(acc0, 0.0f);
  int alu2 = gidx1 * 2 + gidx0;
  float alu3 = 0.125f * alu1;
  data0[alu2] = alu1;
  data1[alu2] = (0.0f < alu1) ? alu3 + alu3 : 0.0f;
}

// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void r_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  for (int ridx0 = 0; ridx0 < 8; ridx0++) {
    float val0 = data1[ridx0];
    acc0 = fma(val0, val0, acc0);
  }
  data0[0] = acc0 / 8.0f;
}

// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void r_2_3_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int gidx1 = int(group.y);
  int gidx0 = int(group.x);
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    acc0 = fma(data1[gidx1 + ridx2 * 2], data2[gidx0 + ridx2 * 3], acc0);
  }
  data0[gidx1 * 3 + gidx0] = acc0;
}

// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void E_6(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  data0[gidx0] = data0[gidx0] - data1[gidx0 % 2 * 3 + gidx0 / 2] * 0.1f;
}
