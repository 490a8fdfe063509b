// opts: Opt(UNROLL, 1, 0)
void r_3_4(float* restrict data0, const float* restrict data1) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu0 = ridx0 * 4ll;
    float alu1 = data1[alu0] + data1[alu0 + 1ll] + (data1[alu0 + 2ll] + data1[alu0 + 3ll]);
    data0[ridx0] = alu1 * 0.5f;
  }
}
