// opts: Opt(VECTOR, 2, 4), Opt(VECTOR, 1, 4), Opt(UNROLL, 2, 0), Opt(UNROLL, 1, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
void r_3_2_2_4_4(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu0 = ridx0 * 8ll;
    f32x4 val0 = *(const f32x4_m*)(data1 + alu0);
    f32x4 val1 = *(const f32x4_m*)(data1 + alu0 + 4ll);
    f32x4 alu1 = val0 + val1;
    f32x2 alu2 = __builtin_shufflevector(alu1, alu1, 0, 1) + __builtin_shufflevector(alu1, alu1, 2, 3);
    float alu3 = (alu2[0] + alu2[1]) / 8.0f;
    f32x4 alu4 = (f32x4)(alu3);
    f32x4 alu5 = val0 - alu4;
    f32x4 alu6 = val1 - alu4;
    f32x4 alu7 = alu5 * alu5 + alu6 * alu6;
    f32x2 alu8 = __builtin_shufflevector(alu7, alu7, 0, 1) + __builtin_shufflevector(alu7, alu7, 2, 3);
    data0[ridx0] = (alu8[0] + alu8[1]) / 7.0f;
  }
}
