// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void E_3_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int gidx1 = int(group.y);
  int gidx0 = int(group.x);
  int alu0 = gidx1 * 4 + gidx0;
  data0[alu0] = data1[alu0] + data2[gidx1 + gidx0 * 3];
}
