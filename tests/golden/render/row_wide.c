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
  f32x8 acc1;
  f32x8 acc2;
  for (int ridx0 = 0; ridx0 < 6; ridx0++) {
    acc1 = (f32x8)(-__builtin_inff());
    int alu0 = ridx0 * 16;
    for (int ridx3 = 0; ridx3 < 2; ridx3++) {
      acc1 = max_f32x8(acc1, *(const f32x8_m*)(data2 + alu0 + ridx3 * 8));
    }
    f32x8 val0 = acc1;
    f32x4 alu1 = max_f32x4(__builtin_shufflevector(val0, val0, 0, 1, 2, 3), __builtin_shufflevector(val0,
        val0, 4, 5, 6, 7));
    f32x2 alu2 = max_f32x2(__builtin_shufflevector(alu1, alu1, 0, 1), __builtin_shufflevector(alu1, alu1, 2,
        3));
    float alu3 = max_f32(alu2[0], alu2[1]);
    f32x8 alu4 = (f32x8)(alu3);
    for (int ridx2 = 0; ridx2 < 2; ridx2++) {
      int alu5 = ridx2 * 8;
      *(f32x8_m*)(row0 + alu5) = *(const f32x8_m*)(data2 + alu0 + alu5) - alu4;
    }
    acc2 = (f32x8)(0.0f);
    for (int ridx4 = 0; ridx4 < 2; ridx4++) {
      acc2 = acc2 + *(f32x8_m*)(row0 + ridx4 * 8);
    }
    for (int ridx1 = 0; ridx1 < 2; ridx1++) {
      int alu6 = ridx1 * 8;
      *(f32x8_m*)(data0 + alu0 + alu6) = *(f32x8_m*)(row0 + alu6);
    }
    f32x8 val1 = acc2;
    f32x4 alu7 = __builtin_shufflevector(val1, val1, 0, 1, 2, 3) + __builtin_shufflevector(val1, val1, 4, 5,
        6, 7);
    f32x2 alu8 = __builtin_shufflevector(alu7, alu7, 0, 1) + __builtin_shufflevector(alu7, alu7, 2, 3);
    data1[ridx0] = alu8[0] + alu8[1];
  }
}
