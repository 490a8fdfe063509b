// grid (16, 16, 1), group (32, 1, 1); opts: Opt(TC, 2, 1), Opt(SPLIT, 7, 4), Opt(UNROLL, 8, 0)
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
void r_16_16_2_2_2_2_2_2_4(device float* data0 [[buffer(0)]], device const float* data1 [[buffer(1)]],
    device const float* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  float2 acc0;
  acc0 = float2(0.0f);
  int lidx0 = int(item.x);
  int alu0 = lidx0 >> 1;
  int alu1 = alu0 & 1;
  int alu2 = lidx0 >> 2 & 1;
  int alu3 = lidx0 >> 4;
  int alu4 = (lidx0 & 1) * 2;
  int alu5 = (lidx0 >> 3 & 1) * 4;
  int gidx1 = int(group.y);
  int alu6 = alu1 * 64 + alu2 * 128 + alu3 * 256 + alu4 + alu5 + gidx1 * 512;
  int alu7 = alu3 * 512;
  int gidx0 = int(group.x);
  int alu8 = gidx0 * 8;
  int alu9 = alu4 + alu5 + alu1 * 128 + alu2 * 256 + alu7 + alu8;
  for (int ridx7 = 0; ridx7 < 2; ridx7++) {
    int alu10 = alu6 + ridx7 * 32;
    int alu11 = alu9 + ridx7 * 4096;
    float2 wmma0 = multiply_8x8_f32(float2(*(device const packed_float2*)(data1 + alu10)),
        float2(*(device const packed_float2*)(data2 + alu11)), acc0);
    float2 wmma1 = multiply_8x8_f32(float2(*(device const packed_float2*)(data1 + alu10 + 8)),
        float2(*(device const packed_float2*)(data2 + alu11 + 1024)), wmma0);
    float2 wmma2 = multiply_8x8_f32(float2(*(device const packed_float2*)(data1 + alu10 + 16)),
        float2(*(device const packed_float2*)(data2 + alu11 + 2048)), wmma1);
    float2 wmma3 = multiply_8x8_f32(float2(*(device const packed_float2*)(data1 + alu10 + 24)),
        float2(*(device const packed_float2*)(data2 + alu11 + 3072)), wmma2);
    acc0 = wmma3;
  }
  *(device packed_float2*)(data0 + alu7 + (alu0 & 3) * 128 + alu5 + alu4 + alu8 + gidx1 * 1024) = acc0;
}
