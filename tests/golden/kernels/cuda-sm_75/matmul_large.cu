// grid (8, 16, 1), block (32, 8, 1); opts: Opt(UPCAST, 1, 2), Opt(LOCAL, 1, 32), Opt(UPCAST, 0, 4), Opt(LOCAL, 0, 8), Opt(SPLIT, 4, 16), Opt(UNROLL, 5, 4), Opt(STAGE, 4, 2)
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
typedef vec<float, 2> f32x2;
typedef vec<float, 4> f32x4;
extern "C" __global__ void __launch_bounds__(256) r_16_8_8_32_32_4_4_2_4(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  __shared__ __align__(16) float tile0[1056];
  __shared__ __align__(16) float tile1[2048];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  float acc6;
  float acc7;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 / 8;
  int gidx1 = blockIdx.y;
  int alu1 = gidx1 * 16384;
  int lidx1 = threadIdx.y;
  int alu2 = lidx1 * 2048;
  int alu3 = alu0 * 512 + lidx0 % 8 * 2 + alu1 + alu2;
  int alu4 = lidx1 * 4;
  int alu5 = lidx0 / 2 % 4 * 132 + lidx0 % 2 * 64 + alu0 + alu4;
  f32x2 val0 = *(const f32x2*)(data1 + alu3);
  tile0[alu5] = val0[0];
  tile0[alu5 + 32] = val0[1];
  int gidx0 = blockIdx.x;
  int alu6 = gidx0 * 64;
  int alu7 = lidx0 / 16 * 512 + lidx0 % 16 * 4 + alu6 + lidx1 * 1024;
  int alu8 = lidx0 * 4 + lidx1 * 128;
  *(f32x4*)(tile1 + alu8) = *(const f32x4*)(data2 + alu7);
  acc0 = 0.0f;
  int alu9 = lidx0 * 2;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  acc4 = 0.0f;
  acc5 = 0.0f;
  acc6 = 0.0f;
  acc7 = 0.0f;
  for (int ridx4 = 0; ridx4 < 32; ridx4++) {
    bool alu10 = ridx4 < 31;
    f32x2 val1 = alu10 ? *(const f32x2*)(data1 + alu3 + ridx4 * 16 + 16) : f32x2(0.0f, 0.0f);
    int alu11 = (ridx4 + 1) % 2;
    int alu12 = alu5 + alu11 * 528;
    int alu13 = alu12 + 32;
    __syncthreads();
    f32x4 val2 = alu10 ? *(const f32x4*)(data2 + alu7 + ridx4 * 8192 + 8192) : f32x4(0.0f, 0.0f, 0.0f, 0.0f);
    int alu14 = alu8 + alu11 * 1024;
    int alu15 = ridx4 % 2;
    int alu16 = alu4 + alu15 * 528;
    int alu17 = alu9 + alu15 * 1024;
    for (int ridx5 = 0; ridx5 < 4; ridx5++) {
      int alu18 = alu16 + ridx5 * 132;
      f32x4 val3 = *(f32x4*)(tile0 + alu18 + 96);
      int alu19 = alu17 + ridx5 * 256;
      f32x2 val4 = *(f32x2*)(tile1 + alu19 + 192);
      f32x4 val5 = *(f32x4*)(tile0 + alu18 + 64);
      f32x2 val6 = *(f32x2*)(tile1 + alu19 + 128);
      f32x4 val7 = *(f32x4*)(tile0 + alu18 + 32);
      f32x2 val8 = *(f32x2*)(tile1 + alu19 + 64);
      f32x4 val9 = *(f32x4*)(tile0 + alu18);
      f32x2 val10 = *(f32x2*)(tile1 + alu19);
      float alu20 = fmaf(val5[0], val6[0], fmaf(val7[0], val8[0], fmaf(val9[0], val10[0], acc0)));
      acc0 = fmaf(val3[0], val4[0], alu20);
      float alu21 = fmaf(val5[0], val6[1], fmaf(val7[0], val8[1], fmaf(val9[0], val10[1], acc1)));
      acc1 = fmaf(val3[0], val4[1], alu21);
      float alu22 = fmaf(val5[1], val6[0], fmaf(val7[1], val8[0], fmaf(val9[1], val10[0], acc2)));
      acc2 = fmaf(val3[1], val4[0], alu22);
      float alu23 = fmaf(val5[1], val6[1], fmaf(val7[1], val8[1], fmaf(val9[1], val10[1], acc3)));
      acc3 = fmaf(val3[1], val4[1], alu23);
      float alu24 = fmaf(val5[2], val6[0], fmaf(val7[2], val8[0], fmaf(val9[2], val10[0], acc4)));
      acc4 = fmaf(val3[2], val4[0], alu24);
      float alu25 = fmaf(val5[2], val6[1], fmaf(val7[2], val8[1], fmaf(val9[2], val10[1], acc5)));
      acc5 = fmaf(val3[2], val4[1], alu25);
      float alu26 = fmaf(val5[3], val6[0], fmaf(val7[3], val8[0], fmaf(val9[3], val10[0], acc6)));
      acc6 = fmaf(val3[3], val4[0], alu26);
      float alu27 = fmaf(val5[3], val6[1], fmaf(val7[3], val8[1], fmaf(val9[3], val10[1], acc7)));
      acc7 = fmaf(val3[3], val4[1], alu27);
    }
    tile0[alu12] = val1[0];
    tile0[alu13] = val1[1];
    *(f32x4*)(tile1 + alu14) = val2;
  }
  int alu28 = alu6 + alu1 + alu9 + alu2;
  *(f32x2*)(data0 + alu28) = f32x2(acc0, acc1);
  *(f32x2*)(data0 + alu28 + 512) = f32x2(acc2, acc3);
  *(f32x2*)(data0 + alu28 + 1024) = f32x2(acc4, acc5);
  *(f32x2*)(data0 + alu28 + 1536) = f32x2(acc6, acc7);
}
