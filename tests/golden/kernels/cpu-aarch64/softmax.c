// opts: Opt(VECTOR, 2, 8), Opt(VECTOR, 1, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 3, 4), Opt(UNROLL, 2, 0), Opt(UNROLL, 2, 0)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
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
void r_3_2_2_2_4_4_4_8(float* restrict data0, const float* restrict data1) {
  float row0[8] __attribute__((aligned(64)));
  int cast0 = bits_f32_i32(12582912.0f);
  i32x8 alu0 = (i32x8)(cast0);
  #pragma clang loop unroll(disable)
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu1 = ridx0 * 8ll;
    f32x4 alu2 = max_f32x4(*(const f32x4_m*)(data1 + alu1), *(const f32x4_m*)(data1 + alu1 + 4ll));
    f32x2 alu3 = max_f32x2(__builtin_shufflevector(alu2, alu2, 0, 1), __builtin_shufflevector(alu2, alu2, 2,
        3));
    float alu4 = max_f32(alu3[0], alu3[1]);
    f32x8 alu5 = *(const f32x8_m*)(data1 + alu1) - (f32x8)(alu4);
    f32x8 alu6 = alu5 * (f32x8)(1.442695f);
    f32x8 alu7 = (i32x8)(alu6 < (f32x8)(-154.0f)) ? (f32x8)(-154.0f) : alu6;
    f32x8 alu8 = (i32x8)((f32x8)(154.0f) < alu7) ? (f32x8)(154.0f) : alu7;
    f32x8 alu9 = alu8 + (f32x8)(12582912.0f);
    f32x8 alu10 = alu8 - (alu9 - (f32x8)(12582912.0f));
    f32x8 alu11 = __builtin_elementwise_fma((f32x8)(0.00015475962f), alu10, (f32x8)(0.0013399613f));
    f32x8 alu12 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu11, alu10, (f32x8)(0.009618006f)),
        alu10, (f32x8)(0.0555033f));
    f32x8 alu13 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu12, alu10, (f32x8)(0.2402265f)),
        alu10, (f32x8)(0.6931472f));
    i32x8 alu14 = (i32x8)(alu9) - alu0;
    i32x8 alu15 = alu14 >> (i32x8)(1);
    f32x8 alu16 = __builtin_elementwise_fma(alu10, alu13,
        (f32x8)(1.0f)) * (f32x8)((alu15 + (i32x8)(127)) << (i32x8)(23));
    f32x8 alu17 = __builtin_elementwise_fma(alu5, (f32x8)(1.925963e-8f), __builtin_elementwise_fma(alu5,
        (f32x8)(1.442695f), -alu6));
    f32x8 alu18 = __builtin_elementwise_fma(alu17, (f32x8)(0.6931472f), (f32x8)(1.0f));
    f32x8 alu19 = alu16 * (f32x8)((alu14 - alu15 + (i32x8)(127)) << (i32x8)(23)) * ((i32x8)(alu17 * alu17 < (f32x8)(1.0f)) ? alu18 : (f32x8)(1.0f));
    *(f32x8_m*)row0 = alu19;
    f32x4 alu20 = *(f32x4_m*)row0 + *(f32x4_m*)(row0 + 4ll);
    f32x2 alu21 = __builtin_shufflevector(alu20, alu20, 0, 1) + __builtin_shufflevector(alu20, alu20, 2, 3);
    float alu22 = alu21[0] + alu21[1];
    f32x4 alu23 = (f32x4)(alu22);
    for (long long ridx1 = 0; ridx1 < 2ll; ridx1++) {
      long long alu24 = ridx1 * 4ll;
      *(f32x4_m*)(data0 + alu1 + alu24) = *(f32x4_m*)(row0 + alu24) / alu23;
    }
  }
}
