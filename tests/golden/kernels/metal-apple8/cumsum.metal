// opts: Opt(LOCAL, 0, 8)
#include <metal_stdlib>
using namespace metal;
kernel void r_8_8(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int lidx0 = int(item.x);
  int alu0 = lidx0 + 1;
  for (int ridx1 = 0; ridx1 < 8; ridx1++) {
    acc0 = acc0 + ((ridx1 < alu0) ? data1[ridx1] : 0.0f);
  }
  data0[lidx0] = acc0;
}
