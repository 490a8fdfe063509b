// grid (8, 1, 1), group (8, 1, 1); opts: Opt(GROUP, 1, 8)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(8)]]
void r_8_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  int gidx0 = int(group.x);
  float alu0 = (lidx0 < gidx0 + 1) ? data1[lidx0] : 0.0f;
  float other0 = simd_shuffle_xor(alu0, ushort(1));
  float alu1 = alu0 + other0;
  float other1 = simd_shuffle_xor(alu1, ushort(2));
  float alu2 = alu1 + other1;
  float other2 = simd_shuffle_xor(alu2, ushort(4));
  if (lidx0 < 1) data0[gidx0] = alu2 + other2;
}
