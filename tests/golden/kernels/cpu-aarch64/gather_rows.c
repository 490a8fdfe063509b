// opts: Opt(VECTOR, 1, 4)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
static inline int max_i32(int a, int b) {
  return a < b ? b : a;
}
void E_3_4(float* restrict data0, const int* restrict data1, const float* restrict data2) {
  for (long long ridx0 = 0; ridx0 < 3ll; ridx0++) {
    int val0 = data1[ridx0];
    int alu0 = (val0 < 0) ? val0 + 5 : val0;
    _Bool alu1 = (-1) < alu0 & (alu0 < 5);
    f32x4 val1 = *(const f32x4_m*)(data2 + (long long)max_i32(alu1 ? alu0 : 0, 0) * 4ll);
    *(f32x4_m*)(data0 + ridx0 * 4ll) = alu1 ? val1 : (f32x4)(0.0f);
  }
}
