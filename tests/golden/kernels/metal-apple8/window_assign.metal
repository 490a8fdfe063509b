// grid None, group (6, 1, 1); opts: Opt(LOCAL, 0, 6)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(6)]]
void E_6(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  data0[lidx0] = data1[lidx0] * 2.0f;
}

// grid None, group (2, 1, 1); opts: Opt(LOCAL, 0, 2)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(2)]]
void E_2(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  data0[lidx0 + 1] = data1[lidx0];
}
