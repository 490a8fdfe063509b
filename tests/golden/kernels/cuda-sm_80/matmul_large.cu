// grid (8, 16, 1), block (32, 8, 1); opts: Opt(UPCAST, 1, 2), Opt(LOCAL, 1, 32), Opt(UPCAST, 0, 4), Opt(LOCAL, 0, 8), Opt(SPLIT, 4, 16), Opt(UNROLL, 5, 4), Opt(STAGE, 4, 3)
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};
template <int N, class T, class Index>
__device__ inline void copy_async(void* to, const T* start, Index at, bool there = true) {
  const void* from = start + (there ? at : 0);
  int read = there ? N : 0;  // the rest becomes zeros
  if (N == 16) {
    asm volatile("{.reg .u64 s; .reg .u32 t; cvta.to.shared.u64 s, %0; cvt.u32.u64 t, s; "
        "cp.async.cg.shared.global [t], [%1], 16, %2;}"
        :: "l"(to), "l"(from), "r"(read) : "memory");
  } else {
    asm volatile("{.reg .u64 s; .reg .u32 t; cvta.to.shared.u64 s, %0; cvt.u32.u64 t, s; "
        "cp.async.ca.shared.global [t], [%1], %3, %2;}"
        :: "l"(to), "l"(from), "r"(read), "n"(N) : "memory");
  }
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int NEWER> __device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" :: "n"(NEWER) : "memory");
}
typedef vec<float, 4> f32x4;
typedef vec<float, 2> f32x2;
extern "C" __global__ void __launch_bounds__(256) r_16_8_8_32_32_4_4_2_4(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2) {
  __shared__ __align__(16) float tile0[1728];
  __shared__ __align__(16) float tile1[3072];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  float acc4;
  float acc5;
  float acc6;
  float acc7;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 / 16;
  int alu1 = alu0 * 512;
  int alu2 = lidx0 % 16;
  int gidx1 = blockIdx.y;
  int alu3 = gidx1 * 16384;
  int lidx1 = threadIdx.y;
  int alu4 = lidx1 * 1024;
  int alu5 = alu1 + alu2 + alu3 + alu4;
  int alu6 = alu2 * 36 + alu0 + lidx1 * 2;
  copy_async<4>(tile0 + alu6, data1, alu5);
  int alu7 = alu5 + 8192;
  int alu8 = alu6 + 16;
  copy_async<4>(tile0 + alu8, data1, alu7);
  int alu9 = alu5 + 16;
  int alu10 = alu6 + 576;
  copy_async<4>(tile0 + alu10, data1, alu9);
  int alu11 = alu5 + 8208;
  int alu12 = alu6 + 592;
  copy_async<4>(tile0 + alu12, data1, alu11);
  int gidx0 = blockIdx.x;
  int alu13 = gidx0 * 64;
  int alu14 = alu1 + alu2 * 4 + alu13 + alu4;
  int alu15 = lidx0 * 4 + lidx1 * 128;
  copy_async<16>(tile1 + alu15, data2, alu14);
  int alu16 = alu14 + 8192;
  int alu17 = alu15 + 1024;
  copy_async<16>(tile1 + alu17, data2, alu16);
  commit_copies();
  commit_copies();
  acc0 = 0.0f;
  int alu18 = lidx1 * 4;
  int alu19 = lidx0 * 2;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  acc4 = 0.0f;
  acc5 = 0.0f;
  acc6 = 0.0f;
  acc7 = 0.0f;
  for (int ridx4 = 0; ridx4 < 32; ridx4++) {
    int alu20 = alu5 + ridx4 * 16;
    int alu21 = alu20 + 32;
    bool alu22 = ridx4 < 30;
    int alu23 = (ridx4 + 2) % 3;
    int alu24 = alu6 + alu23 * 576;
    int alu25 = alu20 + 8224;
    int alu26 = alu24 + 16;
    wait_for_copies<1>();
    __syncthreads();
    copy_async<4>(tile0 + alu24, data1, alu21, alu22);
    copy_async<4>(tile0 + alu26, data1, alu25, alu22);
    int alu27 = alu14 + ridx4 * 8192 + 16384;
    int alu28 = alu15 + alu23 * 1024;
    copy_async<16>(tile1 + alu28, data2, alu27, alu22);
    commit_copies();
    int alu29 = ridx4 % 3;
    int alu30 = alu18 + alu29 * 576;
    int alu31 = alu19 + alu29 * 1024;
    for (int ridx5 = 0; ridx5 < 4; ridx5++) {
      int alu32 = alu30 + ridx5 * 144;
      f32x4 val0 = *(f32x4*)(tile0 + alu32 + 108);
      int alu33 = alu31 + ridx5 * 256;
      f32x2 val1 = *(f32x2*)(tile1 + alu33 + 192);
      f32x4 val2 = *(f32x4*)(tile0 + alu32 + 72);
      f32x2 val3 = *(f32x2*)(tile1 + alu33 + 128);
      f32x4 val4 = *(f32x4*)(tile0 + alu32 + 36);
      f32x2 val5 = *(f32x2*)(tile1 + alu33 + 64);
      f32x4 val6 = *(f32x4*)(tile0 + alu32);
      f32x2 val7 = *(f32x2*)(tile1 + alu33);
      float alu34 = fmaf(val2[0], val3[0], fmaf(val4[0], val5[0], fmaf(val6[0], val7[0], acc0)));
      acc0 = fmaf(val0[0], val1[0], alu34);
      float alu35 = fmaf(val2[0], val3[1], fmaf(val4[0], val5[1], fmaf(val6[0], val7[1], acc1)));
      acc1 = fmaf(val0[0], val1[1], alu35);
      float alu36 = fmaf(val2[1], val3[0], fmaf(val4[1], val5[0], fmaf(val6[1], val7[0], acc2)));
      acc2 = fmaf(val0[1], val1[0], alu36);
      float alu37 = fmaf(val2[1], val3[1], fmaf(val4[1], val5[1], fmaf(val6[1], val7[1], acc3)));
      acc3 = fmaf(val0[1], val1[1], alu37);
      float alu38 = fmaf(val2[2], val3[0], fmaf(val4[2], val5[0], fmaf(val6[2], val7[0], acc4)));
      acc4 = fmaf(val0[2], val1[0], alu38);
      float alu39 = fmaf(val2[2], val3[1], fmaf(val4[2], val5[1], fmaf(val6[2], val7[1], acc5)));
      acc5 = fmaf(val0[2], val1[1], alu39);
      float alu40 = fmaf(val2[3], val3[0], fmaf(val4[3], val5[0], fmaf(val6[3], val7[0], acc6)));
      acc6 = fmaf(val0[3], val1[0], alu40);
      float alu41 = fmaf(val2[3], val3[1], fmaf(val4[3], val5[1], fmaf(val6[3], val7[1], acc7)));
      acc7 = fmaf(val0[3], val1[1], alu41);
    }
  }
  int alu42 = alu13 + alu3 + alu19 + lidx1 * 2048;
  *(f32x2*)(data0 + alu42) = f32x2(acc0, acc1);
  *(f32x2*)(data0 + alu42 + 512) = f32x2(acc2, acc3);
  *(f32x2*)(data0 + alu42 + 1024) = f32x2(acc4, acc5);
  *(f32x2*)(data0 + alu42 + 1536) = f32x2(acc6, acc7);
}
