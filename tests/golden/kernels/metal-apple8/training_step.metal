// grid None, group (2, 4, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 4)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
[[kernel, max_total_threads_per_threadgroup(8)]]
void r_4_2_3(device float* data0 [[buffer(0)]], device float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], device const float* data3 [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = int(item.y);
  int alu0 = lidx1 * 3;
  int lidx0 = int(item.x);
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    acc0 = fma(data2[alu0 + ridx2], data3[lidx0 + ridx2 * 2], acc0);
  }
  float alu1 = max_f32(acc0, 0.0f);
  int alu2 = lidx1 * 2 + lidx0;
  float alu3 = 0.125f * alu1;
  data0[alu2] = alu1;
  data1[alu2] = (0.0f < alu1) ? alu3 + alu3 : 0.0f;
}

// grid None, group (8, 1, 1); opts: Opt(GROUP, 0, 8)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(8)]]
void r_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  float val0 = data1[lidx0];
  float alu0 = val0 * val0;
  float other0 = simd_shuffle_xor(alu0, ushort(1));
  float alu1 = alu0 + other0;
  float other1 = simd_shuffle_xor(alu1, ushort(2));
  float alu2 = alu1 + other1;
  float other2 = simd_shuffle_xor(alu2, ushort(4));
  if (lidx0 < 1) data0[0] = (alu2 + other2) / 8.0f;
}

// grid None, group (3, 2, 1); opts: Opt(LOCAL, 1, 3), Opt(LOCAL, 0, 2)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(6)]]
void r_2_3_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = int(item.y);
  int lidx0 = int(item.x);
  for (int ridx2 = 0; ridx2 < 4; ridx2++) {
    acc0 = fma(data1[lidx1 + ridx2 * 2], data2[lidx0 + ridx2 * 3], acc0);
  }
  data0[lidx1 * 3 + lidx0] = acc0;
}

// grid None, group (2, 3, 1); opts: Opt(LOCAL, 1, 2), Opt(LOCAL, 0, 3)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(6)]]
void E_3_2(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx1 = int(item.y);
  int lidx0 = int(item.x);
  data0[lidx1 * 2 + lidx0] = data0[lidx1 * 2 + lidx0] - data1[lidx1 + lidx0 * 3] * 0.1f;
}
