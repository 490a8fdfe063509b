// opts: Opt(VECTOR, 3, 8), Opt(UPCAST, 1, 4), Opt(UPCAST, 1, 4)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
void r_2_4_4_8(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    int alu0 = ridx0 * 32;
    f32x8 val0 = *(const f32x8_m*)(data1 + alu0);
    f32x8 val1 = *(const f32x8_m*)(data2 + alu0);
    f32x8 alu1 = val0 * val1;
    f32x4 alu2 = __builtin_shufflevector(alu1, alu1, 0, 1, 2, 3) + __builtin_shufflevector(alu1, alu1, 4, 5,
        6, 7);
    f32x2 alu3 = __builtin_shufflevector(alu2, alu2, 0, 1) + __builtin_shufflevector(alu2, alu2, 2, 3);
    int alu4 = ridx0 * 16;
    int alu5 = alu0 + 8;
    f32x8 val2 = *(const f32x8_m*)(data1 + alu5);
    f32x8 alu6 = val2 * val1;
    f32x4 alu7 = __builtin_shufflevector(alu6, alu6, 0, 1, 2, 3) + __builtin_shufflevector(alu6, alu6, 4, 5,
        6, 7);
    f32x2 alu8 = __builtin_shufflevector(alu7, alu7, 0, 1) + __builtin_shufflevector(alu7, alu7, 2, 3);
    int alu9 = alu0 + 16;
    f32x8 val3 = *(const f32x8_m*)(data1 + alu9);
    f32x8 alu10 = val3 * val1;
    f32x4 alu11 = __builtin_shufflevector(alu10, alu10, 0, 1, 2, 3) + __builtin_shufflevector(alu10, alu10, 4,
        5, 6, 7);
    f32x2 alu12 = __builtin_shufflevector(alu11, alu11, 0, 1) + __builtin_shufflevector(alu11, alu11, 2, 3);
    int alu13 = alu0 + 24;
    f32x8 val4 = *(const f32x8_m*)(data1 + alu13);
    f32x8 alu14 = val4 * val1;
    f32x4 alu15 = __builtin_shufflevector(alu14, alu14, 0, 1, 2, 3) + __builtin_shufflevector(alu14, alu14, 4,
        5, 6, 7);
    f32x2 alu16 = __builtin_shufflevector(alu15, alu15, 0, 1) + __builtin_shufflevector(alu15, alu15, 2, 3);
    f32x8 val5 = *(const f32x8_m*)(data2 + alu5);
    f32x8 alu17 = val0 * val5;
    f32x4 alu18 = __builtin_shufflevector(alu17, alu17, 0, 1, 2, 3) + __builtin_shufflevector(alu17, alu17, 4,
        5, 6, 7);
    f32x2 alu19 = __builtin_shufflevector(alu18, alu18, 0, 1) + __builtin_shufflevector(alu18, alu18, 2, 3);
    f32x8 alu20 = val2 * val5;
    f32x4 alu21 = __builtin_shufflevector(alu20, alu20, 0, 1, 2, 3) + __builtin_shufflevector(alu20, alu20, 4,
        5, 6, 7);
    f32x2 alu22 = __builtin_shufflevector(alu21, alu21, 0, 1) + __builtin_shufflevector(alu21, alu21, 2, 3);
    f32x8 alu23 = val3 * val5;
    f32x4 alu24 = __builtin_shufflevector(alu23, alu23, 0, 1, 2, 3) + __builtin_shufflevector(alu23, alu23, 4,
        5, 6, 7);
    f32x2 alu25 = __builtin_shufflevector(alu24, alu24, 0, 1) + __builtin_shufflevector(alu24, alu24, 2, 3);
    f32x8 alu26 = val4 * val5;
    f32x4 alu27 = __builtin_shufflevector(alu26, alu26, 0, 1, 2, 3) + __builtin_shufflevector(alu26, alu26, 4,
        5, 6, 7);
    f32x2 alu28 = __builtin_shufflevector(alu27, alu27, 0, 1) + __builtin_shufflevector(alu27, alu27, 2, 3);
    f32x8 val6 = *(const f32x8_m*)(data2 + alu9);
    f32x8 alu29 = val0 * val6;
    f32x4 alu30 = __builtin_shufflevector(alu29, alu29, 0, 1, 2, 3) + __builtin_shufflevector(alu29, alu29, 4,
        5, 6, 7);
    f32x2 alu31 = __builtin_shufflevector(alu30, alu30, 0, 1) + __builtin_shufflevector(alu30, alu30, 2, 3);
    f32x8 alu32 = val2 * val6;
    f32x4 alu33 = __builtin_shufflevector(alu32, alu32, 0, 1, 2, 3) + __builtin_shufflevector(alu32, alu32, 4,
        5, 6, 7);
    f32x2 alu34 = __builtin_shufflevector(alu33, alu33, 0, 1) + __builtin_shufflevector(alu33, alu33, 2, 3);
    f32x8 alu35 = val3 * val6;
    f32x4 alu36 = __builtin_shufflevector(alu35, alu35, 0, 1, 2, 3) + __builtin_shufflevector(alu35, alu35, 4,
        5, 6, 7);
    f32x2 alu37 = __builtin_shufflevector(alu36, alu36, 0, 1) + __builtin_shufflevector(alu36, alu36, 2, 3);
    f32x8 alu38 = val4 * val6;
    f32x4 alu39 = __builtin_shufflevector(alu38, alu38, 0, 1, 2, 3) + __builtin_shufflevector(alu38, alu38, 4,
        5, 6, 7);
    f32x2 alu40 = __builtin_shufflevector(alu39, alu39, 0, 1) + __builtin_shufflevector(alu39, alu39, 2, 3);
    f32x8 val7 = *(const f32x8_m*)(data2 + alu13);
    f32x8 alu41 = val0 * val7;
    f32x4 alu42 = __builtin_shufflevector(alu41, alu41, 0, 1, 2, 3) + __builtin_shufflevector(alu41, alu41, 4,
        5, 6, 7);
    f32x2 alu43 = __builtin_shufflevector(alu42, alu42, 0, 1) + __builtin_shufflevector(alu42, alu42, 2, 3);
    f32x8 alu44 = val2 * val7;
    f32x4 alu45 = __builtin_shufflevector(alu44, alu44, 0, 1, 2, 3) + __builtin_shufflevector(alu44, alu44, 4,
        5, 6, 7);
    f32x2 alu46 = __builtin_shufflevector(alu45, alu45, 0, 1) + __builtin_shufflevector(alu45, alu45, 2, 3);
    f32x8 alu47 = val3 * val7;
    f32x4 alu48 = __builtin_shufflevector(alu47, alu47, 0, 1, 2, 3) + __builtin_shufflevector(alu47, alu47, 4,
        5, 6, 7);
    f32x2 alu49 = __builtin_shufflevector(alu48, alu48, 0, 1) + __builtin_shufflevector(alu48, alu48, 2, 3);
    f32x8 alu50 = val4 * val7;
    f32x4 alu51 = __builtin_shufflevector(alu50, alu50, 0, 1, 2, 3) + __builtin_shufflevector(alu50, alu50, 4,
        5, 6, 7);
    f32x2 alu52 = __builtin_shufflevector(alu51, alu51, 0, 1) + __builtin_shufflevector(alu51, alu51, 2, 3);
    data0[alu4] = (alu3[0] + alu3[1]) / 2.828427f;
    data0[alu4 + 4] = (alu8[0] + alu8[1]) / 2.828427f;
    data0[alu4 + 8] = (alu12[0] + alu12[1]) / 2.828427f;
    data0[alu4 + 12] = (alu16[0] + alu16[1]) / 2.828427f;
    data0[alu4 + 1] = (alu19[0] + alu19[1]) / 2.828427f;
    data0[alu4 + 5] = (alu22[0] + alu22[1]) / 2.828427f;
    data0[alu4 + 9] = (alu25[0] + alu25[1]) / 2.828427f;
    data0[alu4 + 13] = (alu28[0] + alu28[1]) / 2.828427f;
    data0[alu4 + 2] = (alu31[0] + alu31[1]) / 2.828427f;
    data0[alu4 + 6] = (alu34[0] + alu34[1]) / 2.828427f;
    data0[alu4 + 10] = (alu37[0] + alu37[1]) / 2.828427f;
    data0[alu4 + 14] = (alu40[0] + alu40[1]) / 2.828427f;
    data0[alu4 + 3] = (alu43[0] + alu43[1]) / 2.828427f;
    data0[alu4 + 7] = (alu46[0] + alu46[1]) / 2.828427f;
    data0[alu4 + 11] = (alu49[0] + alu49[1]) / 2.828427f;
    data0[alu4 + 15] = (alu52[0] + alu52[1]) / 2.828427f;
  }
}

// opts: Opt(VECTOR, 0, 8), Opt(UNROLL, 0, 0)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
static inline f32x8 max_f32x8(f32x8 a, f32x8 b) {
  f32x8 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_4_8(float* restrict data0, const float* restrict data1) {
  f32x8 alu0 = (f32x8){data1[0], data1[4], data1[8], data1[12], data1[16], data1[20], data1[24], data1[28]};
  f32x8 alu1 = (f32x8){data1[1], data1[5], data1[9], data1[13], data1[17], data1[21], data1[25], data1[29]};
  f32x8 alu2 = (f32x8){data1[2], data1[6], data1[10], data1[14], data1[18], data1[22], data1[26], data1[30]};
  f32x8 alu3 = (f32x8){data1[3], data1[7], data1[11], data1[15], data1[19], data1[23], data1[27], data1[31]};
  *(f32x8_m*)data0 = max_f32x8(max_f32x8(alu0, alu1), max_f32x8(alu2, alu3));
}

// opts: Opt(VECTOR, 0, 8), Opt(UNROLL, 0, 0)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef int i32x8 __attribute__((ext_vector_type(8)));
static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
void r_4_8(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  f32x8 alu0 = (f32x8){data1[0], data1[4], data1[8], data1[12], data1[16], data1[20], data1[24], data1[28]};
  f32x8 val0 = *(const f32x8_m*)data2;
  f32x8 alu1 = alu0 - val0;
  f32x8 alu2 = alu1 * (f32x8)(1.442695f);
  f32x8 alu3 = (i32x8)(alu2 < (f32x8)(-154.0f)) ? (f32x8)(-154.0f) : alu2;
  f32x8 alu4 = (i32x8)((f32x8)(154.0f) < alu3) ? (f32x8)(154.0f) : alu3;
  f32x8 alu5 = alu4 + (f32x8)(12582912.0f);
  f32x8 alu6 = alu4 - (alu5 - (f32x8)(12582912.0f));
  f32x8 alu7 = __builtin_elementwise_fma((f32x8)(0.00015475962f), alu6, (f32x8)(0.0013399613f));
  f32x8 alu8 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu7, alu6, (f32x8)(0.009618006f)), alu6,
      (f32x8)(0.0555033f));
  f32x8 alu9 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu8, alu6, (f32x8)(0.2402265f)), alu6,
      (f32x8)(0.6931472f));
  int cast0 = bits_f32_i32(12582912.0f);
  i32x8 alu10 = (i32x8)(cast0);
  i32x8 alu11 = (i32x8)(alu5) - alu10;
  i32x8 alu12 = alu11 >> (i32x8)(1);
  f32x8 alu13 = __builtin_elementwise_fma(alu6, alu9,
      (f32x8)(1.0f)) * (f32x8)((alu12 + (i32x8)(127)) << (i32x8)(23));
  f32x8 alu14 = __builtin_elementwise_fma(alu1, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu1,
      (f32x8)(1.442695f), -alu2));
  f32x8 alu15 = __builtin_elementwise_fma(alu14, (f32x8)(0.6931472f), (f32x8)(1.0f));
  f32x8 alu16 = alu13 * (f32x8)((alu11 - alu12 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu14 * alu14 < (f32x8)(1.0f)) ? alu15 : (f32x8)(1.0f));
  f32x8 alu17 = (f32x8){data1[1], data1[5], data1[9], data1[13], data1[17], data1[21], data1[25], data1[29]};
  f32x8 alu18 = alu17 - val0;
  f32x8 alu19 = alu18 * (f32x8)(1.442695f);
  f32x8 alu20 = (i32x8)(alu19 < (f32x8)(-154.0f)) ? (f32x8)(-154.0f) : alu19;
  f32x8 alu21 = (i32x8)((f32x8)(154.0f) < alu20) ? (f32x8)(154.0f) : alu20;
  f32x8 alu22 = alu21 + (f32x8)(12582912.0f);
  f32x8 alu23 = alu21 - (alu22 - (f32x8)(12582912.0f));
  f32x8 alu24 = __builtin_elementwise_fma((f32x8)(0.00015475962f), alu23, (f32x8)(0.0013399613f));
  f32x8 alu25 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu24, alu23, (f32x8)(0.009618006f)),
      alu23, (f32x8)(0.0555033f));
  f32x8 alu26 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu25, alu23, (f32x8)(0.2402265f)), alu23,
      (f32x8)(0.6931472f));
  i32x8 alu27 = (i32x8)(alu22) - alu10;
  i32x8 alu28 = alu27 >> (i32x8)(1);
  f32x8 alu29 = __builtin_elementwise_fma(alu23, alu26,
      (f32x8)(1.0f)) * (f32x8)((alu28 + (i32x8)(127)) << (i32x8)(23));
  f32x8 alu30 = __builtin_elementwise_fma(alu18, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu18,
      (f32x8)(1.442695f), -alu19));
  f32x8 alu31 = __builtin_elementwise_fma(alu30, (f32x8)(0.6931472f), (f32x8)(1.0f));
  f32x8 alu32 = alu29 * (f32x8)((alu27 - alu28 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu30 * alu30 < (f32x8)(1.0f)) ? alu31 : (f32x8)(1.0f));
  f32x8 alu33 = (f32x8){data1[2], data1[6], data1[10], data1[14], data1[18], data1[22], data1[26], data1[30]};
  f32x8 alu34 = alu33 - val0;
  f32x8 alu35 = alu34 * (f32x8)(1.442695f);
  f32x8 alu36 = (i32x8)(alu35 < (f32x8)(-154.0f)) ? (f32x8)(-154.0f) : alu35;
  f32x8 alu37 = (i32x8)((f32x8)(154.0f) < alu36) ? (f32x8)(154.0f) : alu36;
  f32x8 alu38 = alu37 + (f32x8)(12582912.0f);
  f32x8 alu39 = alu37 - (alu38 - (f32x8)(12582912.0f));
  f32x8 alu40 = __builtin_elementwise_fma((f32x8)(0.00015475962f), alu39, (f32x8)(0.0013399613f));
  f32x8 alu41 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu40, alu39, (f32x8)(0.009618006f)),
      alu39, (f32x8)(0.0555033f));
  f32x8 alu42 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu41, alu39, (f32x8)(0.2402265f)), alu39,
      (f32x8)(0.6931472f));
  i32x8 alu43 = (i32x8)(alu38) - alu10;
  i32x8 alu44 = alu43 >> (i32x8)(1);
  f32x8 alu45 = __builtin_elementwise_fma(alu39, alu42,
      (f32x8)(1.0f)) * (f32x8)((alu44 + (i32x8)(127)) << (i32x8)(23));
  f32x8 alu46 = __builtin_elementwise_fma(alu34, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu34,
      (f32x8)(1.442695f), -alu35));
  f32x8 alu47 = __builtin_elementwise_fma(alu46, (f32x8)(0.6931472f), (f32x8)(1.0f));
  f32x8 alu48 = alu45 * (f32x8)((alu43 - alu44 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu46 * alu46 < (f32x8)(1.0f)) ? alu47 : (f32x8)(1.0f));
  f32x8 alu49 = (f32x8){data1[3], data1[7], data1[11], data1[15], data1[19], data1[23], data1[27], data1[31]};
  f32x8 alu50 = alu49 - val0;
  f32x8 alu51 = alu50 * (f32x8)(1.442695f);
  f32x8 alu52 = (i32x8)(alu51 < (f32x8)(-154.0f)) ? (f32x8)(-154.0f) : alu51;
  f32x8 alu53 = (i32x8)((f32x8)(154.0f) < alu52) ? (f32x8)(154.0f) : alu52;
  f32x8 alu54 = alu53 + (f32x8)(12582912.0f);
  f32x8 alu55 = alu53 - (alu54 - (f32x8)(12582912.0f));
  f32x8 alu56 = __builtin_elementwise_fma((f32x8)(0.00015475962f), alu55, (f32x8)(0.0013399613f));
  f32x8 alu57 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu56, alu55, (f32x8)(0.009618006f)),
      alu55, (f32x8)(0.0555033f));
  f32x8 alu58 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu57, alu55, (f32x8)(0.2402265f)), alu55,
      (f32x8)(0.6931472f));
  i32x8 alu59 = (i32x8)(alu54) - alu10;
  i32x8 alu60 = alu59 >> (i32x8)(1);
  f32x8 alu61 = __builtin_elementwise_fma(alu55, alu58,
      (f32x8)(1.0f)) * (f32x8)((alu60 + (i32x8)(127)) << (i32x8)(23));
  f32x8 alu62 = __builtin_elementwise_fma(alu50, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu50,
      (f32x8)(1.442695f), -alu51));
  f32x8 alu63 = __builtin_elementwise_fma(alu62, (f32x8)(0.6931472f), (f32x8)(1.0f));
  f32x8 alu64 = alu61 * (f32x8)((alu59 - alu60 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu62 * alu62 < (f32x8)(1.0f)) ? alu63 : (f32x8)(1.0f));
  *(f32x8_m*)data0 = alu16 + alu32 + (alu48 + alu64);
}

// opts: Opt(VECTOR, 0, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef int i32x8 __attribute__((ext_vector_type(8)));
static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
void E_4_8(float* restrict data0, const float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  f32x8 val0 = *(const f32x8_m*)data2;
  int cast0 = bits_f32_i32(12582912.0f);
  i32x8 alu0 = (i32x8)(cast0);
  f32x8 val1 = *(const f32x8_m*)data3;
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    int alu1 = ridx0 + 4;
    int alu2 = ridx0 + 8;
    int alu3 = ridx0 + 12;
    int alu4 = ridx0 + 16;
    int alu5 = ridx0 + 20;
    int alu6 = ridx0 + 24;
    int alu7 = ridx0 + 28;
    f32x8 alu8 = (f32x8){data1[ridx0], data1[alu1], data1[alu2], data1[alu3], data1[alu4], data1[alu5],
        data1[alu6], data1[alu7]};
    f32x8 alu9 = alu8 - val0;
    f32x8 alu10 = alu9 * (f32x8)(1.442695f);
    f32x8 alu11 = (i32x8)(alu10 < (f32x8)(-154.0f)) ? (f32x8)(-154.0f) : alu10;
    f32x8 alu12 = (i32x8)((f32x8)(154.0f) < alu11) ? (f32x8)(154.0f) : alu11;
    f32x8 alu13 = alu12 + (f32x8)(12582912.0f);
    f32x8 alu14 = alu12 - (alu13 - (f32x8)(12582912.0f));
    f32x8 alu15 = __builtin_elementwise_fma((f32x8)(0.00015475962f), alu14, (f32x8)(0.0013399613f));
    f32x8 alu16 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu15, alu14, (f32x8)(0.009618006f)),
        alu14, (f32x8)(0.0555033f));
    f32x8 alu17 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu16, alu14, (f32x8)(0.2402265f)),
        alu14, (f32x8)(0.6931472f));
    i32x8 alu18 = (i32x8)(alu13) - alu0;
    i32x8 alu19 = alu18 >> (i32x8)(1);
    f32x8 alu20 = __builtin_elementwise_fma(alu14, alu17,
        (f32x8)(1.0f)) * (f32x8)((alu19 + (i32x8)(127)) << (i32x8)(23));
    f32x8 alu21 = __builtin_elementwise_fma(alu9, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu9,
        (f32x8)(1.442695f), -alu10));
    f32x8 alu22 = __builtin_elementwise_fma(alu21, (f32x8)(0.6931472f), (f32x8)(1.0f));
    f32x8 alu23 = alu20 * (f32x8)((alu18 - alu19 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu21 * alu21 < (f32x8)(1.0f)) ? alu22 : (f32x8)(1.0f));
    f32x8 alu24 = alu23 / val1;
    data0[ridx0] = alu24[0];
    data0[alu1] = alu24[1];
    data0[alu2] = alu24[2];
    data0[alu3] = alu24[3];
    data0[alu4] = alu24[4];
    data0[alu5] = alu24[5];
    data0[alu6] = alu24[6];
    data0[alu7] = alu24[7];
  }
}

// opts: Opt(VECTOR, 2, 8), Opt(UPCAST, 1, 4), Opt(UNROLL, 1, 0)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
void r_2_4_4_8(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    int alu0 = ridx0 * 16;
    float val0 = data1[alu0 + 2];
    int alu1 = ridx0 * 32;
    int alu2 = alu1 + 16;
    f32x8 val1 = *(const f32x8_m*)(data2 + alu2);
    float val2 = data1[alu0];
    f32x8 val3 = *(const f32x8_m*)(data2 + alu1);
    f32x8 alu3 = __builtin_elementwise_fma((f32x8)(val0), val1, (f32x8)(val2) * val3);
    float val4 = data1[alu0 + 3];
    int alu4 = alu1 + 24;
    f32x8 val5 = *(const f32x8_m*)(data2 + alu4);
    float val6 = data1[alu0 + 1];
    int alu5 = alu1 + 8;
    f32x8 val7 = *(const f32x8_m*)(data2 + alu5);
    f32x8 alu6 = __builtin_elementwise_fma((f32x8)(val4), val5, (f32x8)(val6) * val7);
    float val8 = data1[alu0 + 6];
    float val9 = data1[alu0 + 4];
    f32x8 alu7 = __builtin_elementwise_fma((f32x8)(val8), val1, (f32x8)(val9) * val3);
    float val10 = data1[alu0 + 7];
    float val11 = data1[alu0 + 5];
    f32x8 alu8 = __builtin_elementwise_fma((f32x8)(val10), val5, (f32x8)(val11) * val7);
    float val12 = data1[alu0 + 10];
    float val13 = data1[alu0 + 8];
    f32x8 alu9 = __builtin_elementwise_fma((f32x8)(val12), val1, (f32x8)(val13) * val3);
    float val14 = data1[alu0 + 11];
    float val15 = data1[alu0 + 9];
    f32x8 alu10 = __builtin_elementwise_fma((f32x8)(val14), val5, (f32x8)(val15) * val7);
    float val16 = data1[alu0 + 14];
    float val17 = data1[alu0 + 12];
    f32x8 alu11 = __builtin_elementwise_fma((f32x8)(val16), val1, (f32x8)(val17) * val3);
    float val18 = data1[alu0 + 15];
    float val19 = data1[alu0 + 13];
    f32x8 alu12 = __builtin_elementwise_fma((f32x8)(val18), val5, (f32x8)(val19) * val7);
    *(f32x8_m*)(data0 + alu1) = alu3 + alu6;
    *(f32x8_m*)(data0 + alu5) = alu7 + alu8;
    *(f32x8_m*)(data0 + alu2) = alu9 + alu10;
    *(f32x8_m*)(data0 + alu4) = alu11 + alu12;
  }
}
