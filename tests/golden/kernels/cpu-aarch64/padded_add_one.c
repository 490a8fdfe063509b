// opts: Opt(VECTOR, 1, 2)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
void E_3_2(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    data0[ridx0 + 1ll] = data1[ridx0] + 1.0f;
  }
  data0[0ll] = 0.0f;
  *(f32x2_m*)(data0 + 4ll) = (f32x2)(0.0f);
}
