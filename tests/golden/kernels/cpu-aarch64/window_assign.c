// opts: Opt(VECTOR, 0, 4)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
void E_2_4(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu0 = (ridx0 < 1ll) ? ridx0 * 4ll : 2ll;
    *(f32x4_m*)(data0 + alu0) = *(const f32x4_m*)(data1 + alu0) * (f32x4)(2.0f);
  }
}

// opts: Opt(VECTOR, 0, 2)
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x2 f32x2_m __attribute__((aligned(4), may_alias));
void E_2(float* restrict data0, const float* restrict data1) {
  *(f32x2_m*)(data0 + 1ll) = *(const f32x2_m*)data1;
}
