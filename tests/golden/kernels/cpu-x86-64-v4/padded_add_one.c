// opts: Opt(VECTOR, 0, 2), Opt(VECTOR, 1, 2)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
void E_2_2_2(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = (ridx0 < 1ll) ? ridx0 * 2ll : 1ll;
    *(f32x2_m*)(data0 + alu0 + 1ll) = *(const f32x2_m*)(data1 + alu0) + (f32x2)(1.0f);
  }
  data0[0ll] = 0.0f;
  *(f32x2_m*)(data0 + 4ll) = (f32x2)(0.0f);
}
