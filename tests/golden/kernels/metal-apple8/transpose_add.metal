// grid (8, 1, 1), group (32, 8, 1); opts: Opt(LOCAL, 1, 32), Opt(LOCAL, 0, 8)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(256)]]
void E_8_8_32(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int gidx0 = int(group.x);
  int lidx1 = int(item.y);
  int alu0 = gidx0 * 8 + lidx1;
  int lidx0 = int(item.x);
  int alu1 = alu0 * 32 + lidx0;
  data0[alu1] = data1[alu1] + data2[alu0 + lidx0 * 64];
}
