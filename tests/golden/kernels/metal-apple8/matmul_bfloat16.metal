// grid (4, 8, 1), group (32, 1, 1); opts: Opt(TC, 2, 1), Opt(SPLIT, 7, 2), Opt(UNROLL, 8, 0)
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
void r_8_4_2_2_2_2_2_2_2(device float* data0 [[buffer(0)]], device const bfloat* data1 [[buffer(1)]],
    device const bfloat* data2 [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 item [[thread_position_in_threadgroup]]) {
  float2 acc0;
  acc0 = float2(0.0f);
  int lidx0 = int(item.x);
  int alu0 = lidx0 >> 1;
  int alu1 = (alu0 & 1) * 32;
  int alu2 = (lidx0 >> 2 & 1) * 64;
  int alu3 = (lidx0 >> 4) * 128;
  int alu4 = (lidx0 & 1) * 2;
  int alu5 = (lidx0 >> 3 & 1) * 4;
  int gidx1 = int(group.y);
  int alu6 = gidx1 * 256;
  int alu7 = alu1 + alu2 + alu3 + alu4 + alu5 + alu6;
  int gidx0 = int(group.x);
  int alu8 = gidx0 * 8;
  int alu9 = alu4 + alu5 + alu1 + alu2 + alu3 + alu8;
  for (int ridx7 = 0; ridx7 < 2; ridx7++) {
    int alu10 = alu7 + ridx7 * 16;
    bfloat2 val0 = bfloat2(*(device const packed_bfloat2*)(data1 + alu10 + 8));
    int alu11 = alu9 + ridx7 * 512;
    bfloat2 val1 = bfloat2(*(device const packed_bfloat2*)(data2 + alu11 + 256));
    bfloat2 val2 = bfloat2(*(device const packed_bfloat2*)(data1 + alu10));
    bfloat2 val3 = bfloat2(*(device const packed_bfloat2*)(data2 + alu11));
    float2 wmma0 = multiply_8x8_f32(float2((float)(val2.x), (float)(val2.y)), float2((float)(val3.x),
        (float)(val3.y)), acc0);
    float2 wmma1 = multiply_8x8_f32(float2((float)(val0.x), (float)(val0.y)), float2((float)(val1.x),
        (float)(val1.y)), wmma0);
    acc0 = wmma1;
  }
  *(device packed_float2*)(data0 + alu3 + (alu0 & 3) * 32 + alu5 + alu4 + alu8 + alu6) = acc0;
}
