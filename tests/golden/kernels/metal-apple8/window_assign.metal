// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void E_6(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  data0[gidx0] = data1[gidx0] * 2.0f;
}

// opts: none
#include <metal_stdlib>
using namespace metal;
kernel void E_2(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  data0[gidx0 + 1] = data1[gidx0];
}
