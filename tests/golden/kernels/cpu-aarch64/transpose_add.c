// opts: Opt(VECTOR, 1, 4)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
void E_3_4(float* restrict data0, const float* restrict data1, const float* restrict data2) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    long long alu0 = ridx0 * 4ll;
    f32x4 alu1 = (f32x4){data2[ridx0], data2[ridx0 + 3ll], data2[ridx0 + 6ll], data2[ridx0 + 9ll]};
    *(f32x4_m*)(data0 + alu0) = *(const f32x4_m*)(data1 + alu0) + alu1;
  }
}
