static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_6_16_16_4_4_4_4(float* restrict data0, float* restrict data1, const float* restrict data2) {
  float row0[16] __attribute__((aligned(64)));
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  float acc6;
  float acc7;
  float acc8;
  for (int ridx0 = 0; ridx0 < 6; ridx0++) {
    acc1 = (-__builtin_inff());
    int alu0 = ridx0 * 16;
    acc2 = (-__builtin_inff());
    acc3 = (-__builtin_inff());
    acc4 = (-__builtin_inff());
    for (int ridx3 = 0; ridx3 < 4; ridx3++) {
      int alu1 = alu0 + ridx3 * 4;
      acc1 = max_f32(acc1, data2[alu1]);
      acc2 = max_f32(acc2, data2[alu1 + 1]);
      acc3 = max_f32(acc3, data2[alu1 + 2]);
      acc4 = max_f32(acc4, data2[alu1 + 3]);
    }
    float alu2 = max_f32(max_f32(acc1, acc2), max_f32(acc3, acc4));
    for (int ridx2 = 0; ridx2 < 16; ridx2++) {
      row0[ridx2] = data2[alu0 + ridx2] - alu2;
    }
    acc5 = 0.0f;
    acc6 = 0.0f;
    acc7 = 0.0f;
    acc8 = 0.0f;
    for (int ridx4 = 0; ridx4 < 4; ridx4++) {
      int alu3 = ridx4 * 4;
      acc5 = acc5 + row0[alu3];
      acc6 = acc6 + row0[alu3 + 1];
      acc7 = acc7 + row0[alu3 + 2];
      acc8 = acc8 + row0[alu3 + 3];
    }
    for (int ridx1 = 0; ridx1 < 16; ridx1++) {
      data0[alu0 + ridx1] = row0[ridx1];
    }
    data1[ridx0] = acc5 + acc6 + (acc7 + acc8);
  }
}
