// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(64)]]
void E_64(device uchar* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], device const float* data3 [[buffer(3)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  data0[lidx0] = data1[lidx0] < data2[lidx0] & (data3[lidx0] != 0.0f);
}
