// grid None, block (8, 16, 1); opts: Opt(UPCAST, 1, 4), Opt(UPCAST, 0, 4), Opt(LOCAL, 1, 8), Opt(LOCAL, 0, 16), Opt(SPLIT, 2, 16), Opt(UNROLL, 3, 4), Opt(STAGE, 2, 0)
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
  __shared__ __align__(16) float tile0[1088];
  __shared__ __align__(16) float tile1[512];
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
  int lidx1 = threadIdx.y;
  int alu0 = lidx1 / 2;
  int alu1 = lidx1 % 2;
  int lidx0 = threadIdx.x;
  int alu2 = alu0 * 48 + alu1 * 8 + lidx0;
  int alu3 = alu1 * 544 + alu0 + lidx0 * 68;
  int alu4 = lidx1 * 8;
  int alu5 = alu4 + lidx0;
  int alu6 = lidx0 + alu4;
  acc0 = 0.0f;
  int alu7 = lidx1 * 4;
  int alu8 = lidx0 * 4;
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
    int alu9 = alu2 + ridx2 * 16;
    __syncthreads();
    for (int ridx7 = 0; ridx7 < 8; ridx7++) {
      tile0[alu3 + ridx7 * 8] = data1[alu9 + ridx7 * 384];
    }
    int alu10 = alu5 + ridx2 * 512;
    for (int ridx8 = 0; ridx8 < 4; ridx8++) {
      int alu11 = ridx8 * 128;
      tile1[alu6 + alu11] = data2[alu10 + alu11];
    }
    __syncthreads();
    for (int ridx3 = 0; ridx3 < 4; ridx3++) {
      int alu12 = alu7 + ridx3 * 272;
      f32x4 val0 = *(f32x4*)(tile0 + alu12 + 204);
      int alu13 = alu8 + ridx3 * 128;
      f32x4 val1 = *(f32x4*)(tile1 + alu13 + 96);
      f32x4 val2 = *(f32x4*)(tile0 + alu12 + 136);
      f32x4 val3 = *(f32x4*)(tile1 + alu13 + 64);
      f32x4 val4 = *(f32x4*)(tile0 + alu12 + 68);
      f32x4 val5 = *(f32x4*)(tile1 + alu13 + 32);
      f32x4 val6 = *(f32x4*)(tile0 + alu12);
      f32x4 val7 = *(f32x4*)(tile1 + alu13);
      float alu14 = fmaf(val2[0], val3[0], fmaf(val4[0], val5[0], fmaf(val6[0], val7[0], acc0)));
      acc0 = fmaf(val0[0], val1[0], alu14);
      float alu15 = fmaf(val2[0], val3[1], fmaf(val4[0], val5[1], fmaf(val6[0], val7[1], acc1)));
      acc1 = fmaf(val0[0], val1[1], alu15);
      float alu16 = fmaf(val2[0], val3[2], fmaf(val4[0], val5[2], fmaf(val6[0], val7[2], acc2)));
      acc2 = fmaf(val0[0], val1[2], alu16);
      float alu17 = fmaf(val2[0], val3[3], fmaf(val4[0], val5[3], fmaf(val6[0], val7[3], acc3)));
      acc3 = fmaf(val0[0], val1[3], alu17);
      float alu18 = fmaf(val2[1], val3[0], fmaf(val4[1], val5[0], fmaf(val6[1], val7[0], acc4)));
      acc4 = fmaf(val0[1], val1[0], alu18);
      float alu19 = fmaf(val2[1], val3[1], fmaf(val4[1], val5[1], fmaf(val6[1], val7[1], acc5)));
      acc5 = fmaf(val0[1], val1[1], alu19);
      float alu20 = fmaf(val2[1], val3[2], fmaf(val4[1], val5[2], fmaf(val6[1], val7[2], acc6)));
      acc6 = fmaf(val0[1], val1[2], alu20);
      float alu21 = fmaf(val2[1], val3[3], fmaf(val4[1], val5[3], fmaf(val6[1], val7[3], acc7)));
      acc7 = fmaf(val0[1], val1[3], alu21);
      float alu22 = fmaf(val2[2], val3[0], fmaf(val4[2], val5[0], fmaf(val6[2], val7[0], acc8)));
      acc8 = fmaf(val0[2], val1[0], alu22);
      float alu23 = fmaf(val2[2], val3[1], fmaf(val4[2], val5[1], fmaf(val6[2], val7[1], acc9)));
      acc9 = fmaf(val0[2], val1[1], alu23);
      float alu24 = fmaf(val2[2], val3[2], fmaf(val4[2], val5[2], fmaf(val6[2], val7[2], acc10)));
      acc10 = fmaf(val0[2], val1[2], alu24);
      float alu25 = fmaf(val2[2], val3[3], fmaf(val4[2], val5[3], fmaf(val6[2], val7[3], acc11)));
      acc11 = fmaf(val0[2], val1[3], alu25);
      float alu26 = fmaf(val2[3], val3[0], fmaf(val4[3], val5[0], fmaf(val6[3], val7[0], acc12)));
      acc12 = fmaf(val0[3], val1[0], alu26);
      float alu27 = fmaf(val2[3], val3[1], fmaf(val4[3], val5[1], fmaf(val6[3], val7[1], acc13)));
      acc13 = fmaf(val0[3], val1[1], alu27);
      float alu28 = fmaf(val2[3], val3[2], fmaf(val4[3], val5[2], fmaf(val6[3], val7[2], acc14)));
      acc14 = fmaf(val0[3], val1[2], alu28);
      float alu29 = fmaf(val2[3], val3[3], fmaf(val4[3], val5[3], fmaf(val6[3], val7[3], acc15)));
      acc15 = fmaf(val0[3], val1[3], alu29);
    }
  }
  f32x4 val8 = *(const f32x4*)(data3 + alu8);
  f32x4 alu30 = f32x4(max_f32(acc0 + val8[0], 0.0f), max_f32(acc1 + val8[1], 0.0f), max_f32(acc2 + val8[2],
      0.0f), max_f32(acc3 + val8[3], 0.0f));
  int alu31 = alu8 + lidx1 * 128;
  f32x4 alu32 = f32x4(max_f32(acc4 + val8[0], 0.0f), max_f32(acc5 + val8[1], 0.0f), max_f32(acc6 + val8[2],
      0.0f), max_f32(acc7 + val8[3], 0.0f));
  f32x4 alu33 = f32x4(max_f32(acc8 + val8[0], 0.0f), max_f32(acc9 + val8[1], 0.0f), max_f32(acc10 + val8[2],
      0.0f), max_f32(acc11 + val8[3], 0.0f));
  f32x4 alu34 = f32x4(max_f32(acc12 + val8[0], 0.0f), max_f32(acc13 + val8[1], 0.0f), max_f32(acc14 + val8[2],
      0.0f), max_f32(acc15 + val8[3], 0.0f));
  *(f32x4*)(data0 + alu31) = alu30;
  *(f32x4*)(data0 + alu31 + 32) = alu32;
  *(f32x4*)(data0 + alu31 + 64) = alu33;
  *(f32x4*)(data0 + alu31 + 96) = alu34;
}
