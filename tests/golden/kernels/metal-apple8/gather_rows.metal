// grid None, group (4, 3, 1); opts: Opt(LOCAL, 1, 4), Opt(LOCAL, 0, 3)
#include <metal_stdlib>
using namespace metal;
[[kernel, max_total_threads_per_threadgroup(12)]]
void E_3_4(device float* data0 [[buffer(0)]], device const int* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  int lidx0 = int(item.x);
  int lidx1 = int(item.y);
  int val0 = data1[lidx1];
  int alu0 = (val0 < 0) ? (int)((uint)val0 + 5u) : val0;
  data0[lidx1 * 4 + lidx0] = ((-1) < alu0 & (alu0 < 5)) ? data2[(int)((uint)lidx0 + (uint)alu0 * 4u)] : 0.0f;
}
