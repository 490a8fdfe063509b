// grid None, group (6, 1, 1); opts: Opt(LOCAL, 0, 6)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(6)]]
void E_6(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  bool alu0 = !(lidx0 < 1) & (lidx0 < 4);
  data0[lidx0] = alu0 ? (alu0 ? data1[lidx0 + (-1)] : 0.0f) + 1.0f : 0.0f;
}
