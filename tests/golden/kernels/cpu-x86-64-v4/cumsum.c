// opts: Opt(VECTOR, 0, 8), Opt(UNROLL, 0, 0)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
void r_8_8(float* restrict data0, const float* restrict data1) {
  f32x8 val0 = *(const f32x8_m*)data1;
  f32x8 alu0 = __builtin_shufflevector((f32x8)(-0.0f), val0, 7, 8, 9, 10, 11, 12, 13, 14);
  f32x8 alu1 = alu0 + val0;
  f32x8 alu2 = __builtin_shufflevector((f32x8)(-0.0f), alu1, 6, 7, 8, 9, 10, 11, 12, 13);
  f32x8 alu3 = alu2 + alu1;
  f32x8 alu4 = __builtin_shufflevector((f32x8)(-0.0f), alu3, 4, 5, 6, 7, 8, 9, 10, 11);
  *(f32x8_m*)data0 = alu4 + alu3;
}
