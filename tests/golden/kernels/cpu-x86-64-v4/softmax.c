// opts: Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
static inline f32x4 max_f32x4(f32x4 a, f32x4 b) {
  f32x4 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_3_8(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    f32x8 val0 = *(const f32x8_m*)(data1 + ridx0 * 8);
    f32x4 alu0 = max_f32x4(__builtin_shufflevector(val0, val0, 0, 1, 2, 3), __builtin_shufflevector(val0,
        val0, 4, 5, 6, 7));
    f32x2 alu1 = max_f32x2(__builtin_shufflevector(alu0, alu0, 0, 1), __builtin_shufflevector(alu0, alu0, 2,
        3));
    data0[ridx0] = max_f32(alu1[0], alu1[1]);
  }
}

// opts: Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
void r_3_8(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  int cast0 = bits_f32_i32(12582912.0f);
  i32x8 alu0 = (i32x8)(cast0);
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    float val0 = data2[ridx0];
    f32x8 alu1 = *(const f32x8_m*)(data1 + ridx0 * 8) - (f32x8)(val0);
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
    i32x8 alu10 = (i32x8)(alu5) - alu0;
    i32x8 alu11 = alu10 >> (i32x8)(1);
    f32x8 alu12 = __builtin_elementwise_fma(alu6, alu9,
        (f32x8)(1.0f)) * (f32x8)((alu11 + (i32x8)(127)) << (i32x8)(23));
    f32x8 alu13 = __builtin_elementwise_fma(alu1, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu1,
        (f32x8)(1.442695f), -alu2));
    f32x8 alu14 = __builtin_elementwise_fma(alu13, (f32x8)(0.6931472f), (f32x8)(1.0f));
    f32x8 alu15 = alu12 * (f32x8)((alu10 - alu11 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu13 * alu13 < (f32x8)(1.0f)) ? alu14 : (f32x8)(1.0f));
    f32x4 alu16 = __builtin_shufflevector(alu15, alu15, 0, 1, 2, 3) + __builtin_shufflevector(alu15, alu15, 4,
        5, 6, 7);
    f32x2 alu17 = __builtin_shufflevector(alu16, alu16, 0, 1) + __builtin_shufflevector(alu16, alu16, 2, 3);
    data0[ridx0] = alu17[0] + alu17[1];
  }
}

// opts: Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
void E_3_8(float* restrict data0, const float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  int cast0 = bits_f32_i32(12582912.0f);
  i32x8 alu0 = (i32x8)(cast0);
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    int alu1 = ridx0 * 8;
    float val0 = data2[ridx0];
    f32x8 alu2 = *(const f32x8_m*)(data1 + alu1) - (f32x8)(val0);
    f32x8 alu3 = alu2 * (f32x8)(1.442695f);
    f32x8 alu4 = (i32x8)(alu3 < (f32x8)(-154.0f)) ? (f32x8)(-154.0f) : alu3;
    f32x8 alu5 = (i32x8)((f32x8)(154.0f) < alu4) ? (f32x8)(154.0f) : alu4;
    f32x8 alu6 = alu5 + (f32x8)(12582912.0f);
    f32x8 alu7 = alu5 - (alu6 - (f32x8)(12582912.0f));
    f32x8 alu8 = __builtin_elementwise_fma((f32x8)(0.00015475962f), alu7, (f32x8)(0.0013399613f));
    f32x8 alu9 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu8, alu7, (f32x8)(0.009618006f)), alu7,
        (f32x8)(0.0555033f));
    f32x8 alu10 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu9, alu7, (f32x8)(0.2402265f)), alu7,
        (f32x8)(0.6931472f));
    i32x8 alu11 = (i32x8)(alu6) - alu0;
    i32x8 alu12 = alu11 >> (i32x8)(1);
    f32x8 alu13 = __builtin_elementwise_fma(alu7, alu10,
        (f32x8)(1.0f)) * (f32x8)((alu12 + (i32x8)(127)) << (i32x8)(23));
    f32x8 alu14 = __builtin_elementwise_fma(alu2, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu2,
        (f32x8)(1.442695f), -alu3));
    f32x8 alu15 = __builtin_elementwise_fma(alu14, (f32x8)(0.6931472f), (f32x8)(1.0f));
    f32x8 alu16 = alu13 * (f32x8)((alu11 - alu12 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu14 * alu14 < (f32x8)(1.0f)) ? alu15 : (f32x8)(1.0f));
    float val1 = data3[ridx0];
    *(f32x8_m*)(data0 + alu1) = alu16 / (f32x8)(val1);
  }
}
