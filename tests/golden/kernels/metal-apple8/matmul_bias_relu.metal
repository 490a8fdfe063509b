// opts: none
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
kernel void r_4_6_5(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], device const float* data3 [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int gidx1 = int(group.y);
  int alu0 = gidx1 * 5;
  int gidx0 = int(group.x);
  for (int ridx2 = 0; ridx2 < 5; ridx2++) {
    acc0 = fma(data1[alu0 + ridx2], data2[gidx0 + ridx2 * 6], acc0);
  }
  data0[gidx1 * 6 + gidx0] = max_f32(acc0 + data3[gidx0], 0.0f);
}
