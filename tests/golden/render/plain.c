static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
static inline float bits_i32_f32(int x) {
  union { int from; float to; } u = { x };
  return u.to;
}
static inline float odd_f64(double x) {
  float nearest = (float)(x);
  double back = (double)(nearest);
  int cut = (int)(back != x);
  int away = cut & ((int)(back > x) ^ (int)(x < 0.0));
  int bits = bits_f32_i32(nearest);
  return bits_i32_f32((bits - away) | cut);
}
static inline int i32_from_f64(double x) {
  x = (x > (-2147483649.0)) & (x < 2147483648.0) ? x : (-2147483648.0);
  return (int)(x);
}
static inline int mod_i32(int a, int b) {
  return a % ((b == 0) | (b == (-1)) ? 1 : b);
}
static inline unsigned int bits_f32_u32(float x) {
  union { float from; unsigned int to; } u = { x };
  return u.to;
}
void E_n(_Float16* restrict data0, const double* restrict data1, const int* restrict data2,
    signed char* restrict data3, int* restrict data4, unsigned char* restrict data5,
    unsigned int* restrict data6, const int n) {
  for (int ridx0 = 0; ridx0 < n; ridx0++) {
    double val0 = data1[ridx0];
    data0[ridx0] = (_Float16)(odd_f64(__builtin_sqrt(val0) + 0.5));
    data3[ridx0] = (signed char)i32_from_f64(val0);
    int val1 = data2[ridx0];
    data4[ridx0] = mod_i32(val1 / n, val1);
    data5[ridx0] = val1 != 0;
    data6[ridx0] = bits_f32_u32((float)val0);
  }
}
