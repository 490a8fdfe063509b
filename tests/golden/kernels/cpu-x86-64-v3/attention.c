// opts: Opt(VECTOR, 7, 8), Opt(VECTOR, 2, 8), Opt(VECTOR, 3, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 4, 4), Opt(VECTOR, 4, 4), Opt(UPCAST, 1, 2), Opt(UPCAST, 2, 4), Opt(UNROLL, 2, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_2_4_2_4_4_4_4_4_8_8(float* restrict data0, const float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  float row2[4] __attribute__((aligned(64)));
  float row1[4] __attribute__((aligned(64)));
  float row0[4] __attribute__((aligned(64)));
  float row3[4] __attribute__((aligned(64)));
  float row4[4] __attribute__((aligned(64)));
  float row5[4] __attribute__((aligned(64)));
  int cast0 = bits_f32_i32(12582912.0f);
  i32x4 alu0 = (i32x4)(cast0);
  #pragma clang loop unroll(disable)
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu1 = ridx0 * 32ll;
    f32x8 val0 = *(const f32x8_m*)(data2 + alu1);
    long long alu2 = alu1 + 8ll;
    f32x8 val1 = *(const f32x8_m*)(data2 + alu2);
    long long alu3 = alu1 + 16ll;
    f32x8 val2 = *(const f32x8_m*)(data2 + alu3);
    long long alu4 = alu1 + 24ll;
    f32x8 val3 = *(const f32x8_m*)(data2 + alu4);
    f32x8 val4 = *(const f32x8_m*)(data3 + alu1);
    f32x8 val5 = *(const f32x8_m*)(data3 + alu2);
    f32x8 val6 = *(const f32x8_m*)(data3 + alu3);
    f32x8 val7 = *(const f32x8_m*)(data3 + alu4);
    for (long long ridx1 = 0; ridx1 < 2ll; ridx1++) {
      long long alu5 = alu1 + ridx1 * 16ll;
      f32x8 val8 = *(const f32x8_m*)(data1 + alu5);
      f32x8 alu6 = val8 * val0;
      f32x4 alu7 = __builtin_shufflevector(alu6, alu6, 0, 1, 2, 3) + __builtin_shufflevector(alu6, alu6, 4, 5,
          6, 7);
      f32x2 alu8 = __builtin_shufflevector(alu7, alu7, 0, 1) + __builtin_shufflevector(alu7, alu7, 2, 3);
      row2[0ll] = (alu8[0] + alu8[1]) / 2.828427f;
      f32x8 alu9 = val8 * val1;
      f32x4 alu10 = __builtin_shufflevector(alu9, alu9, 0, 1, 2, 3) + __builtin_shufflevector(alu9, alu9, 4,
          5, 6, 7);
      f32x2 alu11 = __builtin_shufflevector(alu10, alu10, 0, 1) + __builtin_shufflevector(alu10, alu10, 2, 3);
      row2[1ll] = (alu11[0] + alu11[1]) / 2.828427f;
      f32x8 alu12 = val8 * val2;
      f32x4 alu13 = __builtin_shufflevector(alu12, alu12, 0, 1, 2, 3) + __builtin_shufflevector(alu12, alu12,
          4, 5, 6, 7);
      f32x2 alu14 = __builtin_shufflevector(alu13, alu13, 0, 1) + __builtin_shufflevector(alu13, alu13, 2, 3);
      row2[2ll] = (alu14[0] + alu14[1]) / 2.828427f;
      f32x8 alu15 = val8 * val3;
      f32x4 alu16 = __builtin_shufflevector(alu15, alu15, 0, 1, 2, 3) + __builtin_shufflevector(alu15, alu15,
          4, 5, 6, 7);
      f32x2 alu17 = __builtin_shufflevector(alu16, alu16, 0, 1) + __builtin_shufflevector(alu16, alu16, 2, 3);
      row2[3ll] = (alu17[0] + alu17[1]) / 2.828427f;
      f32x4 val9 = *(f32x4_m*)row2;
      f32x2 alu18 = max_f32x2(__builtin_shufflevector(val9, val9, 0, 1), __builtin_shufflevector(val9, val9,
          2, 3));
      float alu19 = max_f32(alu18[0], alu18[1]);
      f32x4 alu20 = val9 - (f32x4)(alu19);
      f32x4 alu21 = alu20 * (f32x4)(1.442695f);
      f32x4 alu22 = (i32x4)(alu21 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu21;
      f32x4 alu23 = (i32x4)((f32x4)(154.0f) < alu22) ? (f32x4)(154.0f) : alu22;
      f32x4 alu24 = alu23 + (f32x4)(12582912.0f);
      f32x4 alu25 = alu23 - (alu24 - (f32x4)(12582912.0f));
      f32x4 alu26 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu25, (f32x4)(0.0013399613f));
      f32x4 alu27 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu26, alu25, (f32x4)(0.009618006f)),
          alu25, (f32x4)(0.0555033f));
      f32x4 alu28 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu27, alu25, (f32x4)(0.2402265f)),
          alu25, (f32x4)(0.6931472f));
      i32x4 alu29 = (i32x4)(alu24) - alu0;
      i32x4 alu30 = alu29 >> (i32x4)(1);
      f32x4 alu31 = __builtin_elementwise_fma(alu25, alu28,
          (f32x4)(1.0f)) * (f32x4)((alu30 + (i32x4)(127)) << (i32x4)(23));
      f32x4 alu32 = __builtin_elementwise_fma(alu20, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu20,
          (f32x4)(1.442695f), -alu21));
      f32x4 alu33 = __builtin_elementwise_fma(alu32, (f32x4)(0.6931472f), (f32x4)(1.0f));
      f32x4 alu34 = alu31 * (f32x4)((alu29 - alu30 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu32 * alu32 < (f32x4)(1.0f)) ? alu33 : (f32x4)(1.0f));
      *(f32x4_m*)row1 = alu34;
      f32x4 val10 = *(f32x4_m*)row1;
      f32x2 alu35 = __builtin_shufflevector(val10, val10, 0, 1) + __builtin_shufflevector(val10, val10, 2, 3);
      float alu36 = alu35[0] + alu35[1];
      *(f32x4_m*)row0 = val10 / (f32x4)(alu36);
      long long alu37 = alu5 + 8ll;
      f32x8 val11 = *(const f32x8_m*)(data1 + alu37);
      f32x8 alu38 = val11 * val0;
      f32x4 alu39 = __builtin_shufflevector(alu38, alu38, 0, 1, 2, 3) + __builtin_shufflevector(alu38, alu38,
          4, 5, 6, 7);
      f32x2 alu40 = __builtin_shufflevector(alu39, alu39, 0, 1) + __builtin_shufflevector(alu39, alu39, 2, 3);
      row3[0ll] = (alu40[0] + alu40[1]) / 2.828427f;
      f32x8 alu41 = val11 * val1;
      f32x4 alu42 = __builtin_shufflevector(alu41, alu41, 0, 1, 2, 3) + __builtin_shufflevector(alu41, alu41,
          4, 5, 6, 7);
      f32x2 alu43 = __builtin_shufflevector(alu42, alu42, 0, 1) + __builtin_shufflevector(alu42, alu42, 2, 3);
      row3[1ll] = (alu43[0] + alu43[1]) / 2.828427f;
      f32x8 alu44 = val11 * val2;
      f32x4 alu45 = __builtin_shufflevector(alu44, alu44, 0, 1, 2, 3) + __builtin_shufflevector(alu44, alu44,
          4, 5, 6, 7);
      f32x2 alu46 = __builtin_shufflevector(alu45, alu45, 0, 1) + __builtin_shufflevector(alu45, alu45, 2, 3);
      row3[2ll] = (alu46[0] + alu46[1]) / 2.828427f;
      f32x8 alu47 = val11 * val3;
      f32x4 alu48 = __builtin_shufflevector(alu47, alu47, 0, 1, 2, 3) + __builtin_shufflevector(alu47, alu47,
          4, 5, 6, 7);
      f32x2 alu49 = __builtin_shufflevector(alu48, alu48, 0, 1) + __builtin_shufflevector(alu48, alu48, 2, 3);
      row3[3ll] = (alu49[0] + alu49[1]) / 2.828427f;
      f32x4 val12 = *(f32x4_m*)row3;
      f32x2 alu50 = max_f32x2(__builtin_shufflevector(val12, val12, 0, 1), __builtin_shufflevector(val12,
          val12, 2, 3));
      float alu51 = max_f32(alu50[0], alu50[1]);
      f32x4 alu52 = val12 - (f32x4)(alu51);
      f32x4 alu53 = alu52 * (f32x4)(1.442695f);
      f32x4 alu54 = (i32x4)(alu53 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu53;
      f32x4 alu55 = (i32x4)((f32x4)(154.0f) < alu54) ? (f32x4)(154.0f) : alu54;
      f32x4 alu56 = alu55 + (f32x4)(12582912.0f);
      f32x4 alu57 = alu55 - (alu56 - (f32x4)(12582912.0f));
      f32x4 alu58 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu57, (f32x4)(0.0013399613f));
      f32x4 alu59 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu58, alu57, (f32x4)(0.009618006f)),
          alu57, (f32x4)(0.0555033f));
      f32x4 alu60 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu59, alu57, (f32x4)(0.2402265f)),
          alu57, (f32x4)(0.6931472f));
      i32x4 alu61 = (i32x4)(alu56) - alu0;
      i32x4 alu62 = alu61 >> (i32x4)(1);
      f32x4 alu63 = __builtin_elementwise_fma(alu57, alu60,
          (f32x4)(1.0f)) * (f32x4)((alu62 + (i32x4)(127)) << (i32x4)(23));
      f32x4 alu64 = __builtin_elementwise_fma(alu52, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu52,
          (f32x4)(1.442695f), -alu53));
      f32x4 alu65 = __builtin_elementwise_fma(alu64, (f32x4)(0.6931472f), (f32x4)(1.0f));
      f32x4 alu66 = alu63 * (f32x4)((alu61 - alu62 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu64 * alu64 < (f32x4)(1.0f)) ? alu65 : (f32x4)(1.0f));
      *(f32x4_m*)row4 = alu66;
      f32x4 val13 = *(f32x4_m*)row4;
      f32x2 alu67 = __builtin_shufflevector(val13, val13, 0, 1) + __builtin_shufflevector(val13, val13, 2, 3);
      float alu68 = alu67[0] + alu67[1];
      *(f32x4_m*)row5 = val13 / (f32x4)(alu68);
      float val14 = row0[0ll];
      float val15 = row0[1ll];
      float val16 = row0[2ll];
      float val17 = row0[3ll];
      float val18 = row5[0ll];
      float val19 = row5[1ll];
      float val20 = row5[2ll];
      float val21 = row5[3ll];
      *(f32x8_m*)(data0 + alu5) = (f32x8)(val14) * val4 + (f32x8)(val15) * val5 + ((f32x8)(val16) * val6 + (f32x8)(val17) * val7);
      *(f32x8_m*)(data0 + alu37) = (f32x8)(val18) * val4 + (f32x8)(val19) * val5 + ((f32x8)(val20) * val6 + (f32x8)(val21) * val7);
    }
  }
}
