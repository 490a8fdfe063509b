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

// opts: Opt(VECTOR, 1, 4), Opt(VECTOR, 1, 4), Opt(VECTOR, 1, 4)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
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
void r_8_4_4_4(float* restrict data0, const float* restrict data1) {
  int cast0 = bits_f32_i32(12582912.0f);
  i32x4 alu0 = (i32x4)(cast0);
  for (int ridx0 = 0; ridx0 < 8; ridx0++) {
    int alu1 = ridx0 * 4;
    f32x4 val0 = *(const f32x4_m*)(data1 + alu1);
    f32x2 alu2 = max_f32x2(__builtin_shufflevector(val0, val0, 0, 1), __builtin_shufflevector(val0, val0, 2,
        3));
    float alu3 = max_f32(alu2[0], alu2[1]);
    f32x4 alu4 = val0 - (f32x4)(alu3);
    f32x4 alu5 = alu4 * (f32x4)(1.442695f);
    f32x4 alu6 = (i32x4)(alu5 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu5;
    f32x4 alu7 = (i32x4)((f32x4)(154.0f) < alu6) ? (f32x4)(154.0f) : alu6;
    f32x4 alu8 = alu7 + (f32x4)(12582912.0f);
    f32x4 alu9 = alu7 - (alu8 - (f32x4)(12582912.0f));
    f32x4 alu10 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu9, (f32x4)(0.0013399613f));
    f32x4 alu11 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu10, alu9, (f32x4)(0.009618006f)),
        alu9, (f32x4)(0.0555033f));
    f32x4 alu12 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu11, alu9, (f32x4)(0.2402265f)), alu9,
        (f32x4)(0.6931472f));
    i32x4 alu13 = (i32x4)(alu8) - alu0;
    i32x4 alu14 = alu13 >> (i32x4)(1);
    f32x4 alu15 = __builtin_elementwise_fma(alu9, alu12,
        (f32x4)(1.0f)) * (f32x4)((alu14 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu16 = __builtin_elementwise_fma(alu4, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu4,
        (f32x4)(1.442695f), -alu5));
    f32x4 alu17 = __builtin_elementwise_fma(alu16, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu18 = alu15 * (f32x4)((alu13 - alu14 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu16 * alu16 < (f32x4)(1.0f)) ? alu17 : (f32x4)(1.0f));
    f32x2 alu19 = __builtin_shufflevector(alu18, alu18, 0, 1) + __builtin_shufflevector(alu18, alu18, 2, 3);
    float alu20 = alu19[0] + alu19[1];
    *(f32x4_m*)(data0 + alu1) = alu18 / (f32x4)(alu20);
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
