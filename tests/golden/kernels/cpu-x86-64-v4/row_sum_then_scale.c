// opts: Opt(UNROLL, 1, 0)
void r_3_4(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 3; ridx0++) {
    int alu0 = ridx0 * 4;
    float alu1 = data1[alu0] + data1[alu0 + 1] + (data1[alu0 + 2] + data1[alu0 + 3]);
    data0[ridx0] = alu1 * 0.5f;
  }
}
