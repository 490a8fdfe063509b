// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void r_3_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int gidx0 = int(group.x);
  int alu0 = gidx0 * 4;
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    acc0 = acc0 + data1[alu0 + ridx1];
  }
  data0[gidx0] = acc0 * 0.5f;
}
