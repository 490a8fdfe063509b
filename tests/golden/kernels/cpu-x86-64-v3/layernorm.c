// opts: Opt(VECTOR, 1, 8), Opt(VECTOR, 1, 8), Opt(VECTOR, 1, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
void r_3_8_8_8(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu0 = ridx0 * 8ll;
    f32x8 val0 = *(const f32x8_m*)(data1 + alu0);
    f32x4 alu1 = __builtin_shufflevector(val0, val0, 0, 1, 2, 3) + __builtin_shufflevector(val0, val0, 4, 5,
        6, 7);
    f32x2 alu2 = __builtin_shufflevector(alu1, alu1, 0, 1) + __builtin_shufflevector(alu1, alu1, 2, 3);
    float alu3 = (alu2[0] + alu2[1]) / 8.0f;
    f32x8 alu4 = val0 - (f32x8)(alu3);
    f32x8 alu5 = alu4 * alu4;
    f32x4 alu6 = __builtin_shufflevector(alu5, alu5, 0, 1, 2, 3) + __builtin_shufflevector(alu5, alu5, 4, 5,
        6, 7);
    f32x2 alu7 = __builtin_shufflevector(alu6, alu6, 0, 1) + __builtin_shufflevector(alu6, alu6, 2, 3);
    float alu8 = 1.0f / __builtin_sqrtf((alu7[0] + alu7[1]) / 8.0f + 1.0e-5f);
    *(f32x8_m*)(data0 + alu0) = alu4 * (f32x8)(alu8);
  }
}
