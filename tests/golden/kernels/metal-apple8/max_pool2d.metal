// opts: none
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
kernel void r_6_3_2_2(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = (-INFINITY);
  int gidx1 = int(group.y);
  int gidx0 = int(group.x);
  int alu0 = gidx1 * 12 + gidx0 * 2;
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    int alu1 = alu0 + ridx2 * 6;
    for (int ridx3 = 0; ridx3 < 2; ridx3++) {
      acc0 = max_f32(acc0, data1[alu1 + ridx3]);
    }
  }
  data0[gidx1 * 3 + gidx0] = acc0;
}
