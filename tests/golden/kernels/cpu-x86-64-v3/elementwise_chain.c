// opts: Opt(VECTOR, 0, 8)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
void E_2_8(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = (ridx0 < 1ll) ? ridx0 * 8ll : 4ll;
    f32x8 alu1 = *(const f32x8_m*)(data1 + alu0) * *(const f32x8_m*)(data2 + alu0);
    *(f32x8_m*)(data0 + alu0) = __builtin_elementwise_sqrt(alu1 + (f32x8)(1.0f));
  }
}
