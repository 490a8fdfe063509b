// grid None, group (3, 6, 1); opts: Opt(LOCAL, 1, 3), Opt(LOCAL, 0, 6)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
[[kernel, max_total_threads_per_threadgroup(18)]]
void r_6_3_2_2(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = (-INFINITY);
  int lidx1 = int(item.y);
  int lidx0 = int(item.x);
  int alu0 = lidx1 * 12 + lidx0 * 2;
  for (int ridx2 = 0; ridx2 < 2; ridx2++) {
    int alu1 = alu0 + ridx2 * 6;
    for (int ridx3 = 0; ridx3 < 2; ridx3++) {
      acc0 = max_f32(acc0, data1[alu1 + ridx3]);
    }
  }
  data0[lidx1 * 3 + lidx0] = acc0;
}
