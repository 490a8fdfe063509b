// grid (1, 2, 1), group (32, 1, 1); opts: Opt(PADTO, 0, 8), Opt(PADTO, 1, 8), Opt(PADTO, 2, 8), Opt(TC, 2, 1)
#include <metal_stdlib>
using namespace metal;
static inline float2 multiply_8x8_f32(float2 a, float2 b, float2 c) {
  simdgroup_float8x8 left, right;
  simdgroup_float8x8 sum;
  left.thread_elements()[0] = a.x;
  left.thread_elements()[1] = a.y;
  right.thread_elements()[0] = b.x;
  right.thread_elements()[1] = b.y;
  sum.thread_elements()[0] = c.x;
  sum.thread_elements()[1] = c.y;
  simdgroup_multiply_accumulate(sum, left, right, sum);
  return float2(sum.thread_elements()[0], sum.thread_elements()[1]);
}
[[kernel, max_total_threads_per_threadgroup(32)]]
void r_2_1_2_2_2_2_2_1(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  float2 acc0;
  acc0 = float2(0.0f);
  int lidx0 = int(item.x);
  int alu0 = lidx0 >> 1;
  int alu1 = alu0 & 1;
  int alu2 = lidx0 >> 2 & 1;
  int alu3 = lidx0 >> 4;
  int alu4 = lidx0 & 1;
  int alu5 = alu4 * 2;
  int alu6 = lidx0 >> 3 & 1;
  int alu7 = alu6 * 4;
  int gidx1 = int(group.y);
  int alu8 = alu1 * 7 + alu2 * 14 + alu3 * 28 + alu5 + alu7 + gidx1 * 56;
  int alu9 = alu3 * 4;
  int alu10 = alu0 & 3;
  bool alu11 = gidx1 * 8 + alu9 + alu10 < 10;
  bool alu12 = alu6 * 2 + alu4 < 3;
  bool alu13 = alu11 & alu12;
  int alu14 = alu3 * 24;
  int gidx0 = int(group.x);
  int alu15 = alu5 + alu7 + alu1 * 6 + alu2 * 12 + alu14 + gidx0 * 8;
  bool alu16 = alu9 + alu10 < 7 & alu12;
  for (int ridx7 = 0; ridx7 < 1; ridx7++) {
    int alu17 = alu8 + ridx7 * 8;
    float2 alu18 = float2(alu11 ? data1[alu17] : 0.0f, alu13 ? data1[alu17 + 1] : 0.0f);
    float2 val0 = alu16 ? float2(*(device const packed_float2*)(data2 + alu15 + ridx7 * 48)) : float2(0.0f);
    float2 wmma0 = multiply_8x8_f32(alu18, val0, acc0);
    acc0 = wmma0;
  }
  if (alu13) *(device packed_float2*)(data0 + alu14 + alu10 * 6 + alu7 + alu5 + gidx1 * 48) = acc0;
}
