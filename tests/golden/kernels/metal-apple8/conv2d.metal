// grid None, group (6, 6, 3); opts: Opt(LOCAL, 2, 6), Opt(LOCAL, 1, 6), Opt(LOCAL, 0, 3)
#include <metal_stdlib>
using namespace metal;
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
[[kernel, max_total_threads_per_threadgroup(108)]]
void r_3_6_6_2_3_3(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  float acc0;
  acc0 = 0.0f;
  int lidx1 = int(item.y);
  int alu0 = lidx1 * 6;
  int lidx0 = int(item.x);
  int alu1 = alu0 + lidx0;
  int lidx2 = int(item.z);
  int alu2 = lidx2 * 18;
  for (int ridx3 = 0; ridx3 < 2; ridx3++) {
    int alu3 = alu1 + ridx3 * 36;
    int alu4 = alu2 + ridx3 * 9;
    for (int ridx4 = 0; ridx4 < 3; ridx4++) {
      int alu5 = alu3 + ridx4 * 6;
      int alu6 = lidx1 + ridx4;
      bool alu7 = !(alu6 < 1) & (alu6 < 7);
      int alu8 = alu4 + ridx4 * 3;
      for (int ridx5 = 0; ridx5 < 3; ridx5++) {
        int alu9 = lidx0 + ridx5;
        float val0 = (alu7 & (alu9 < 7) & !(alu9 < 1)) ? data1[alu5 + ridx5 + (-7)] : 0.0f;
        acc0 = fma(val0, data2[alu8 + ridx5], acc0);
      }
    }
  }
  data0[lidx2 * 36 + alu0 + lidx0] = max_f32(acc0, 0.0f);
}
