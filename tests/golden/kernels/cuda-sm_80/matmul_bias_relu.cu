// grid None, block (8, 16, 1); opts: Opt(UPCAST, 1, 4), Opt(UPCAST, 0, 4), Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 16), Opt(SPLIT, 2, 16), Opt(UNROLL, 3, 4)
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
typedef vec<float, 4> f32x4;
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
extern "C" __global__ void __launch_bounds__(128) r_16_8_3_4_4_4_4(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2, const float* __restrict__ data3) {
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  float acc6;
  float acc7;
  float acc8;
  float acc9;
  float acc10;
  float acc11;
  float acc12;
  float acc13;
  float acc14;
  float acc15;
  acc0 = 0.0f;
  int lidx1 = threadIdx.y;
  int alu0 = lidx1 * 192;
  int lidx0 = threadIdx.x;
  int alu1 = lidx0 * 4;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  acc4 = 0.0f;
  acc5 = 0.0f;
  acc6 = 0.0f;
  acc7 = 0.0f;
  acc8 = 0.0f;
  acc9 = 0.0f;
  acc10 = 0.0f;
  acc11 = 0.0f;
  acc12 = 0.0f;
  acc13 = 0.0f;
  acc14 = 0.0f;
  acc15 = 0.0f;
  for (int ridx2 = 0; ridx2 < 3; ridx2++) {
    int alu2 = alu0 + ridx2 * 16;
    int alu3 = alu1 + ridx2 * 512;
    for (int ridx3 = 0; ridx3 < 4; ridx3++) {
      int alu4 = alu2 + ridx3 * 4;
      f32x4 val0 = *(const f32x4*)(data1 + alu4);
      int alu5 = alu3 + ridx3 * 128;
      f32x4 val1 = *(const f32x4*)(data2 + alu5 + 96);
      f32x4 val2 = *(const f32x4*)(data2 + alu5 + 64);
      f32x4 val3 = *(const f32x4*)(data2 + alu5 + 32);
      f32x4 val4 = *(const f32x4*)(data2 + alu5);
      float alu6 = fmaf(val0[2], val2[0], fmaf(val0[1], val3[0], fmaf(val0[0], val4[0], acc0)));
      acc0 = fmaf(val0[3], val1[0], alu6);
      float alu7 = fmaf(val0[2], val2[1], fmaf(val0[1], val3[1], fmaf(val0[0], val4[1], acc1)));
      acc1 = fmaf(val0[3], val1[1], alu7);
      float alu8 = fmaf(val0[2], val2[2], fmaf(val0[1], val3[2], fmaf(val0[0], val4[2], acc2)));
      acc2 = fmaf(val0[3], val1[2], alu8);
      float alu9 = fmaf(val0[2], val2[3], fmaf(val0[1], val3[3], fmaf(val0[0], val4[3], acc3)));
      acc3 = fmaf(val0[3], val1[3], alu9);
      f32x4 val5 = *(const f32x4*)(data1 + alu4 + 48);
      float alu10 = fmaf(val5[2], val2[0], fmaf(val5[1], val3[0], fmaf(val5[0], val4[0], acc4)));
      acc4 = fmaf(val5[3], val1[0], alu10);
      float alu11 = fmaf(val5[2], val2[1], fmaf(val5[1], val3[1], fmaf(val5[0], val4[1], acc5)));
      acc5 = fmaf(val5[3], val1[1], alu11);
      float alu12 = fmaf(val5[2], val2[2], fmaf(val5[1], val3[2], fmaf(val5[0], val4[2], acc6)));
      acc6 = fmaf(val5[3], val1[2], alu12);
      float alu13 = fmaf(val5[2], val2[3], fmaf(val5[1], val3[3], fmaf(val5[0], val4[3], acc7)));
      acc7 = fmaf(val5[3], val1[3], alu13);
      f32x4 val6 = *(const f32x4*)(data1 + alu4 + 96);
      float alu14 = fmaf(val6[2], val2[0], fmaf(val6[1], val3[0], fmaf(val6[0], val4[0], acc8)));
      acc8 = fmaf(val6[3], val1[0], alu14);
      float alu15 = fmaf(val6[2], val2[1], fmaf(val6[1], val3[1], fmaf(val6[0], val4[1], acc9)));
      acc9 = fmaf(val6[3], val1[1], alu15);
      float alu16 = fmaf(val6[2], val2[2], fmaf(val6[1], val3[2], fmaf(val6[0], val4[2], acc10)));
      acc10 = fmaf(val6[3], val1[2], alu16);
      float alu17 = fmaf(val6[2], val2[3], fmaf(val6[1], val3[3], fmaf(val6[0], val4[3], acc11)));
      acc11 = fmaf(val6[3], val1[3], alu17);
      f32x4 val7 = *(const f32x4*)(data1 + alu4 + 144);
      float alu18 = fmaf(val7[2], val2[0], fmaf(val7[1], val3[0], fmaf(val7[0], val4[0], acc12)));
      acc12 = fmaf(val7[3], val1[0], alu18);
      float alu19 = fmaf(val7[2], val2[1], fmaf(val7[1], val3[1], fmaf(val7[0], val4[1], acc13)));
      acc13 = fmaf(val7[3], val1[1], alu19);
      float alu20 = fmaf(val7[2], val2[2], fmaf(val7[1], val3[2], fmaf(val7[0], val4[2], acc14)));
      acc14 = fmaf(val7[3], val1[2], alu20);
      float alu21 = fmaf(val7[2], val2[3], fmaf(val7[1], val3[3], fmaf(val7[0], val4[3], acc15)));
      acc15 = fmaf(val7[3], val1[3], alu21);
    }
  }
  f32x4 val8 = *(const f32x4*)(data3 + alu1);
  f32x4 alu22 = f32x4(max_f32(acc0 + val8[0], 0.0f), max_f32(acc1 + val8[1], 0.0f), max_f32(acc2 + val8[2],
      0.0f), max_f32(acc3 + val8[3], 0.0f));
  int alu23 = alu1 + lidx1 * 128;
  f32x4 alu24 = f32x4(max_f32(acc4 + val8[0], 0.0f), max_f32(acc5 + val8[1], 0.0f), max_f32(acc6 + val8[2],
      0.0f), max_f32(acc7 + val8[3], 0.0f));
  f32x4 alu25 = f32x4(max_f32(acc8 + val8[0], 0.0f), max_f32(acc9 + val8[1], 0.0f), max_f32(acc10 + val8[2],
      0.0f), max_f32(acc11 + val8[3], 0.0f));
  f32x4 alu26 = f32x4(max_f32(acc12 + val8[0], 0.0f), max_f32(acc13 + val8[1], 0.0f), max_f32(acc14 + val8[2],
      0.0f), max_f32(acc15 + val8[3], 0.0f));
  *(f32x4*)(data0 + alu23) = alu22;
  *(f32x4*)(data0 + alu23 + 32) = alu24;
  *(f32x4*)(data0 + alu23 + 64) = alu25;
  *(f32x4*)(data0 + alu23 + 96) = alu26;
}
