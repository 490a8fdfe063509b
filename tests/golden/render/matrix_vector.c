typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
void r_32_64(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  f32x8 acc0;
  for (int ridx0 = 0; ridx0 < 32; ridx0++) {
    acc0 = (f32x8)(0.0f);
    int alu0 = ridx0 * 64;
    for (int ridx1 = 0; ridx1 < 8; ridx1++) {
      int alu1 = ridx1 * 8;
      f32x8 alu2 = __builtin_elementwise_fma(*(const f32x8_m*)(data1 + alu0 + alu1),
          *(const f32x8_m*)(data2 + alu1), acc0);
      acc0 = alu2;
    }
    f32x8 val0 = acc0;
    data0[ridx0] = val0[0] + val0[1] + (val0[2] + val0[3]) + (val0[4] + val0[5] + (val0[6] + val0[7]));
  }
}
