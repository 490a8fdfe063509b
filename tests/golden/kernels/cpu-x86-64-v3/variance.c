// opts: Opt(VECTOR, 2, 8), Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
void r_3_8_8(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    f32x8 val0 = *(const f32x8_m*)(data1 + ridx0 * 8ll);
    f32x4 alu0 = __builtin_shufflevector(val0, val0, 0, 1, 2, 3) + __builtin_shufflevector(val0, val0, 4, 5,
        6, 7);
    f32x2 alu1 = __builtin_shufflevector(alu0, alu0, 0, 1) + __builtin_shufflevector(alu0, alu0, 2, 3);
    float alu2 = (alu1[0] + alu1[1]) / 8.0f;
    f32x8 alu3 = val0 - (f32x8)(alu2);
    f32x8 alu4 = alu3 * alu3;
    f32x4 alu5 = __builtin_shufflevector(alu4, alu4, 0, 1, 2, 3) + __builtin_shufflevector(alu4, alu4, 4, 5,
        6, 7);
    f32x2 alu6 = __builtin_shufflevector(alu5, alu5, 0, 1) + __builtin_shufflevector(alu5, alu5, 2, 3);
    data0[ridx0] = (alu6[0] + alu6[1]) / 7.0f;
  }
}
