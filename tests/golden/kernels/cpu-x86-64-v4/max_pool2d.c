// opts: Opt(UNROLL, 3, 0), Opt(UNROLL, 2, 0)
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_6_3_2_2(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 6; ridx0++) {
    int alu0 = ridx0 * 12;
    int alu1 = ridx0 * 3;
    for (int ridx1 = 0; ridx1 < 3; ridx1++) {
      int alu2 = alu0 + ridx1 * 2;
      data0[alu1 + ridx1] = max_f32(max_f32(data1[alu2], data1[alu2 + 1]), max_f32(data1[alu2 + 6],
          data1[alu2 + 7]));
    }
  }
}
