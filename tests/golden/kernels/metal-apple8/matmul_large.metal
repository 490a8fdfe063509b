// grid (16, 16, 1), group (128, 1, 1); opts: Opt(TC, 2, 1), Opt(UPCAST, 1, 2), Opt(LOCAL, 1, 2), Opt(UPCAST, 0, 2), Opt(LOCAL, 0, 2), Opt(SPLIT, 9, 4), Opt(UNROLL, 10, 0), Opt(STAGE, 9, 0)
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
[[kernel, max_total_threads_per_threadgroup(128)]]
void r_16_16_2_2_2_2_2_2_2_16_2_2_4(device float* data0 [[buffer(0)]],
    device const float* data1 [[buffer(1)]], device const float* data2 [[buffer(2)]],
    uint3 group [[threadgroup_position_in_grid]], uint3 item [[thread_position_in_threadgroup]]) {
  threadgroup float tile0[1040];
  threadgroup float tile1[1088];
  float2 acc0;
  float2 acc1;
  float2 acc2;
  float2 acc3;
  int lidx0 = int(item.x);
  int alu0 = lidx0 >> 6;
  int alu1 = alu0 * 4096;
  int alu2 = lidx0 >> 3 & 1;
  int alu3 = alu2 * 512;
  int alu4 = lidx0 >> 4 & 1;
  int alu5 = alu4 * 1024;
  int alu6 = lidx0 >> 5 & 1;
  int alu7 = alu6 * 2048;
  int alu8 = lidx0 >> 2 & 1;
  int alu9 = alu8 * 16;
  int alu10 = lidx0 >> 1;
  int alu11 = alu10 & 1;
  int alu12 = alu11 * 8;
  int alu13 = lidx0 & 1;
  int alu14 = alu13 * 4;
  int gidx1 = int(group.y);
  int alu15 = gidx1 * 16384;
  int alu16 = alu1 + alu3 + alu5 + alu7 + alu9 + alu12 + alu14 + alu15;
  int alu17 = alu6 * 32;
  int alu18 = alu13 * 16;
  int alu19 = alu4 * 8;
  int alu20 = alu2 * 4;
  int alu21 = alu8 * 520 + alu11 * 260 + alu0 * 128 + alu17 + alu18 + alu19 + alu20;
  int gidx0 = int(group.x);
  int alu22 = gidx0 * 32;
  int alu23 = alu9 + alu12 + alu14 + alu1 + alu3 + alu5 + alu7 + alu22;
  int alu24 = alu0 * 272 + alu11 * 136 + alu8 * 68 + alu17 + alu18 + alu19 + alu20;
  acc0 = float2(0.0f);
  int alu25 = alu4 * 32;
  int alu26 = alu2 * 16;
  int alu27 = alu8 * 8;
  int alu28 = alu11 * 4;
  int alu29 = alu13 * 2;
  int alu30 = alu0 * 64 + alu25 + alu26 + alu27 + alu28 + alu29;
  int alu31 = alu30 + 780;
  int alu32 = alu6 * 68 + alu25 + alu26 + alu27 + alu28 + alu29;
  int alu33 = alu32 + 816;
  int alu34 = alu30 + 520;
  int alu35 = alu32 + 544;
  int alu36 = alu30 + 260;
  int alu37 = alu32 + 272;
  acc1 = float2(0.0f);
  int alu38 = alu32 + 952;
  int alu39 = alu32 + 680;
  int alu40 = alu32 + 408;
  int alu41 = alu32 + 136;
  acc2 = float2(0.0f);
  int alu42 = alu30 + 908;
  int alu43 = alu30 + 648;
  int alu44 = alu30 + 388;
  int alu45 = alu30 + 128;
  acc3 = float2(0.0f);
  for (int ridx9 = 0; ridx9 < 16; ridx9++) {
    int alu46 = ridx9 * 32;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int ridx19 = 0; ridx19 < 2; ridx19++) {
      *(threadgroup packed_float4*)(tile0 + alu21 + ridx19 * 64) = float4(*(device const packed_float4*)(data1 + alu16 + ridx19 * 8192 + alu46));
    }
    int alu47 = ridx9 * 16384;
    for (int ridx22 = 0; ridx22 < 2; ridx22++) {
      *(threadgroup packed_float4*)(tile1 + alu24 + ridx22 * 544) = float4(*(device const packed_float4*)(data2 + alu23 + ridx22 * 8192 + alu47));
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float2 val0 = float2(*(threadgroup packed_float2*)(tile0 + alu31));
    float2 val1 = float2(*(threadgroup packed_float2*)(tile1 + alu33));
    float2 val2 = float2(*(threadgroup packed_float2*)(tile0 + alu34));
    float2 val3 = float2(*(threadgroup packed_float2*)(tile1 + alu35));
    float2 val4 = float2(*(threadgroup packed_float2*)(tile0 + alu36));
    float2 val5 = float2(*(threadgroup packed_float2*)(tile1 + alu37));
    float2 val6 = float2(*(threadgroup packed_float2*)(tile0 + alu30));
    float2 val7 = float2(*(threadgroup packed_float2*)(tile1 + alu32));
    float2 wmma0 = multiply_8x8_f32(val6, val7, acc0);
    float2 wmma1 = multiply_8x8_f32(val4, val5, wmma0);
    float2 wmma2 = multiply_8x8_f32(val2, val3, wmma1);
    float2 wmma3 = multiply_8x8_f32(val0, val1, wmma2);
    acc0 = wmma3;
    float2 val8 = float2(*(threadgroup packed_float2*)(tile1 + alu38));
    float2 val9 = float2(*(threadgroup packed_float2*)(tile1 + alu39));
    float2 val10 = float2(*(threadgroup packed_float2*)(tile1 + alu40));
    float2 val11 = float2(*(threadgroup packed_float2*)(tile1 + alu41));
    float2 wmma4 = multiply_8x8_f32(val6, val11, acc1);
    float2 wmma5 = multiply_8x8_f32(val4, val10, wmma4);
    float2 wmma6 = multiply_8x8_f32(val2, val9, wmma5);
    float2 wmma7 = multiply_8x8_f32(val0, val8, wmma6);
    acc1 = wmma7;
    float2 val12 = float2(*(threadgroup packed_float2*)(tile0 + alu42));
    float2 val13 = float2(*(threadgroup packed_float2*)(tile0 + alu43));
    float2 val14 = float2(*(threadgroup packed_float2*)(tile0 + alu44));
    float2 val15 = float2(*(threadgroup packed_float2*)(tile0 + alu45));
    float2 wmma8 = multiply_8x8_f32(val15, val7, acc2);
    float2 wmma9 = multiply_8x8_f32(val14, val5, wmma8);
    float2 wmma10 = multiply_8x8_f32(val13, val3, wmma9);
    float2 wmma11 = multiply_8x8_f32(val12, val1, wmma10);
    acc2 = wmma11;
    float2 wmma12 = multiply_8x8_f32(val15, val11, acc3);
    float2 wmma13 = multiply_8x8_f32(val14, val10, wmma12);
    float2 wmma14 = multiply_8x8_f32(val13, val9, wmma13);
    float2 wmma15 = multiply_8x8_f32(val12, val8, wmma14);
    acc3 = wmma15;
  }
  int alu48 = alu0 * 8192 + alu4 * 2048 + (alu10 & 3) * 512 + alu6 * 16 + alu20;
  int alu49 = alu48 + alu29 + alu22 + alu15;
  *(device packed_float2*)(data0 + alu49) = acc0;
  *(device packed_float2*)(data0 + alu49 + 8) = acc1;
  *(device packed_float2*)(data0 + alu49 + 4096) = acc2;
  *(device packed_float2*)(data0 + alu49 + 4104) = acc3;
}
