// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void E_6(device int* data0 [[buffer(0)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  data0[gidx0] = gidx0 * 2;
}
