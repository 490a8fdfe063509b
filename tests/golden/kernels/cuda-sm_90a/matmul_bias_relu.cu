// grid (2, 4, 1), block (16, 16, 1); opts: Opt(LOCAL, 1, 16), Opt(LOCAL, 0, 16), Opt(SPLIT, 4, 16), Opt(UNROLL, 5, 4), Opt(STAGE, 4, 3)
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
__device__ inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
extern "C" __global__ void __launch_bounds__(256) r_4_2_16_16_3_4_4(float* __restrict__ data0,
    const float* __restrict__ data1, const float* __restrict__ data2, const float* __restrict__ data3) {
  __shared__ __align__(16) float tile0[864];
  __shared__ __align__(16) float tile1[768];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  int gidx1 = blockIdx.y;
  int lidx1 = threadIdx.y;
  int lidx0 = threadIdx.x;
  int alu0 = gidx1 * 768 + lidx1 * 48 + lidx0;
  int alu1 = lidx0 * 18 + lidx1;
  copy_async<4>(tile0 + alu1, data1, alu0);
  int alu2 = alu0 + 16;
  int alu3 = alu1 + 288;
  copy_async<4>(tile0 + alu3, data1, alu2);
  int alu4 = lidx1 * 32;
  int gidx0 = blockIdx.x;
  int alu5 = gidx0 * 16;
  int alu6 = alu4 + alu5 + lidx0;
  int alu7 = lidx0 + lidx1 * 16;
  copy_async<4>(tile1 + alu7, data2, alu6);
  int alu8 = alu6 + 512;
  int alu9 = alu7 + 256;
  copy_async<4>(tile1 + alu9, data2, alu8);
  commit_copies();
  commit_copies();
  acc0 = 0.0f;
  acc1 = 0.0f;
  acc2 = 0.0f;
  acc3 = 0.0f;
  for (int ridx4 = 0; ridx4 < 3; ridx4++) {
    int alu10 = alu0 + ridx4 * 16 + 32;
    int alu11 = ridx4 + 2;
    bool alu12 = alu11 < 3;
    int alu13 = alu11 % 3;
    int alu14 = alu1 + alu13 * 288;
    wait_for_copies<1>();
    __syncthreads();
    copy_async<4>(tile0 + alu14, data1, alu10, alu12);
    int alu15 = alu6 + ridx4 * 512 + 1024;
    int alu16 = alu7 + alu13 * 256;
    copy_async<4>(tile1 + alu16, data2, alu15, alu12);
    commit_copies();
    int alu17 = lidx1 + ridx4 * 288;
    int alu18 = lidx0 + ridx4 * 256;
    for (int ridx5 = 0; ridx5 < 4; ridx5++) {
      int alu19 = alu17 + ridx5 * 72;
      int alu20 = alu18 + ridx5 * 64;
      acc0 = fmaf(tile0[alu19], tile1[alu20], acc0);
      acc1 = fmaf(tile0[alu19 + 18], tile1[alu20 + 16], acc1);
      acc2 = fmaf(tile0[alu19 + 36], tile1[alu20 + 32], acc2);
      acc3 = fmaf(tile0[alu19 + 54], tile1[alu20 + 48], acc3);
    }
  }
  data0[alu5 + gidx1 * 512 + lidx0 + alu4] = max_f32(acc0 + acc1 + (acc2 + acc3) + data3[alu5 + lidx0], 0.0f);
}
