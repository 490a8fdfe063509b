// opts: Opt(VECTOR, 0, 4), Opt(UPCAST, 0, 2), Opt(UNROLL, 0, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
void r_2_8_4(float* restrict data0, const float* restrict data1) {
  f32x4 val0 = *(const f32x4_m*)data1;
  f32x4 alu0 = __builtin_shufflevector((f32x4)(-0.0f), val0, 3, 4, 5, 6) + val0;
  f32x4 alu1 = __builtin_shufflevector((f32x4)(-0.0f), alu0, 2, 3, 4, 5) + alu0;
  f32x4 val1 = *(const f32x4_m*)(data1 + 4ll);
  f32x4 alu2 = __builtin_shufflevector((f32x4)(-0.0f), val1, 3, 4, 5, 6) + val1;
  *(f32x4_m*)data0 = alu1;
  *(f32x4_m*)(data0 + 4ll) = (f32x4)(alu1[3]) + (__builtin_shufflevector((f32x4)(-0.0f), alu2, 2, 3, 4,
      5) + alu2);
}
