// grid None, group (64, 1, 1); opts: Opt(LOCAL, 0, 64)
#include <metal_stdlib>
using namespace metal;
static inline ulong u64_from_f32(float x) {
  x = (x >= (-9.223372e18f)) & (x < 1.8446744e19f) ? x : (-9.223372e18f);
  x = x >= 9.223372e18f ? x - 1.8446744e19f : x;
  return (ulong)((long)(x));
}
[[kernel, max_total_threads_per_threadgroup(64)]]
void E_64(device ulong* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  data0[lidx0] = u64_from_f32(data1[lidx0]);
}
