static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_6_16_16_16_16(float* restrict data0, float* restrict data1, const float* restrict data2) {
  float row0[16] __attribute__((aligned(64)));
  for (int ridx0 = 0; ridx0 < 6; ridx0++) {
    int alu0 = ridx0 * 16;
    float alu1 = max_f32(max_f32(data2[alu0], data2[alu0 + 8]), max_f32(data2[alu0 + 1], data2[alu0 + 9]));
    float alu2 = max_f32(max_f32(data2[alu0 + 2], data2[alu0 + 10]), max_f32(data2[alu0 + 3],
        data2[alu0 + 11]));
    float alu3 = max_f32(max_f32(data2[alu0 + 4], data2[alu0 + 12]), max_f32(data2[alu0 + 5],
        data2[alu0 + 13]));
    float alu4 = max_f32(max_f32(data2[alu0 + 6], data2[alu0 + 14]), max_f32(data2[alu0 + 7],
        data2[alu0 + 15]));
    float alu5 = max_f32(max_f32(alu1, alu2), max_f32(alu3, alu4));
    for (int ridx2 = 0; ridx2 < 16; ridx2++) {
      row0[ridx2] = data2[alu0 + ridx2] - alu5;
    }
    for (int ridx1 = 0; ridx1 < 16; ridx1++) {
      data0[alu0 + ridx1] = row0[ridx1];
    }
    float alu6 = row0[0] + row0[8] + (row0[1] + row0[9]) + (row0[2] + row0[10] + (row0[3] + row0[11]));
    float alu7 = row0[4] + row0[12] + (row0[5] + row0[13]) + (row0[6] + row0[14] + (row0[7] + row0[15]));
    data1[ridx0] = alu6 + alu7;
  }
}
