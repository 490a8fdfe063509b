// opts: Opt(UNROLL, 1, 0)
void r_8_8(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 8; ridx0++) {
    float alu0 = (!(ridx0 < 7) ? data1[ridx0 + (-7)] : 0.0f) + (!(ridx0 < 6) ? data1[ridx0 + (-6)] : 0.0f);
    float alu1 = (!(ridx0 < 5) ? data1[ridx0 + (-5)] : 0.0f) + (!(ridx0 < 4) ? data1[ridx0 + (-4)] : 0.0f);
    float alu2 = (!(ridx0 < 3) ? data1[ridx0 + (-3)] : 0.0f) + (!(ridx0 < 2) ? data1[ridx0 + (-2)] : 0.0f);
    float alu3 = alu2 + ((!(ridx0 < 1) ? data1[ridx0 + (-1)] : 0.0f) + data1[ridx0]);
    data0[ridx0] = alu0 + alu1 + alu3;
  }
}
