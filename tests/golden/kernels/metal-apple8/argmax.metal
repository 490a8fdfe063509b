// opts: none
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
kernel void r_3_8_8(device int* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  int acc1;
  acc0 = (-INFINITY);
  int gidx0 = int(group.x);
  int alu0 = gidx0 * 8;
  for (int ridx2 = 0; ridx2 < 8; ridx2++) {
    acc0 = max_f32(acc0, data1[alu0 + ridx2]);
  }
  acc1 = (-2147483647 - 1);
  float val0 = acc0;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    float val1 = data1[alu0 + ridx1];
    int alu1 = (val1 == val0 | (val1 != val1)) ? (ridx1 ^ (-1)) : (-2147483647 - 1);
    acc1 = max_i32(acc1, alu1);
  }
  data0[gidx0] = acc1 ^ (-1);
}
