typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
static inline f32x8 max_f32x8(f32x8 a, f32x8 b) {
  f32x8 larger = b > a ? b : a;
  return b != b ? b + b : larger;
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
void r_6_2_2_2_2_8_8_8_8(float* restrict data0, float* restrict data1, const float* restrict data2) {
  float row0[16] __attribute__((aligned(64)));
  for (int ridx0 = 0; ridx0 < 6; ridx0++) {
    int alu0 = ridx0 * 16;
    f32x8 alu1 = max_f32x8(*(const f32x8_m*)(data2 + alu0), *(const f32x8_m*)(data2 + alu0 + 8));
    f32x4 alu2 = max_f32x4(__builtin_shufflevector(alu1, alu1, 0, 1, 2, 3), __builtin_shufflevector(alu1,
        alu1, 4, 5, 6, 7));
    f32x2 alu3 = max_f32x2(__builtin_shufflevector(alu2, alu2, 0, 1), __builtin_shufflevector(alu2, alu2, 2,
        3));
    float alu4 = max_f32(alu3[0], alu3[1]);
    f32x8 alu5 = (f32x8)(alu4);
    for (int ridx2 = 0; ridx2 < 2; ridx2++) {
      int alu6 = ridx2 * 8;
      *(f32x8_m*)(row0 + alu6) = *(const f32x8_m*)(data2 + alu0 + alu6) - alu5;
    }
    for (int ridx1 = 0; ridx1 < 2; ridx1++) {
      int alu7 = ridx1 * 8;
      *(f32x8_m*)(data0 + alu0 + alu7) = *(f32x8_m*)(row0 + alu7);
    }
    f32x8 alu8 = *(f32x8_m*)row0 + *(f32x8_m*)(row0 + 8);
    f32x4 alu9 = __builtin_shufflevector(alu8, alu8, 0, 1, 2, 3) + __builtin_shufflevector(alu8, alu8, 4, 5,
        6, 7);
    f32x2 alu10 = __builtin_shufflevector(alu9, alu9, 0, 1) + __builtin_shufflevector(alu9, alu9, 2, 3);
    data1[ridx0] = alu10[0] + alu10[1];
  }
}
