// opts: Opt(UNROLL, 3, 0), Opt(UNROLL, 2, 0)
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_6_3_2_2(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 6ll; ridx0++) {
    long long alu0 = ridx0 * 12ll;
    long long alu1 = ridx0 * 3ll;
    for (long long ridx1 = 0; ridx1 < 3ll; ridx1++) {
      long long alu2 = alu0 + ridx1 * 2ll;
      data0[alu1 + ridx1] = max_f32(max_f32(data1[alu2], data1[alu2 + 1ll]), max_f32(data1[alu2 + 6ll],
          data1[alu2 + 7ll]));
    }
  }
}
