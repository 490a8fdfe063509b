// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void r_3_8_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  float acc1;
  acc0 = 0.0f;
  int gidx0 = int(group.x);
  int alu0 = gidx0 * 8;
  for (int ridx2 = 0; ridx2 < 8; ridx2++) {
    acc0 = acc0 + data1[alu0 + ridx2];
  }
  acc1 = 0.0f;
  float alu1 = acc0 / 8.0f;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    float alu2 = data1[alu0 + ridx1] - alu1;
    acc1 = fma(alu2, alu2, acc1);
  }
  data0[gidx0] = acc1 / 7.0f;
}
