// grid (64, 1, 1), block (32, 1, 1); opts: Opt(VECTOR, 2, 4), Opt(VECTOR, 1, 4), Opt(VECTOR, 3, 4), Opt(VECTOR, 4, 4), Opt(GROUP, 2, 32), Opt(GROUP, 1, 32), Opt(GROUP, 3, 32), Opt(GROUP, 4, 32)
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
__device__ inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
__device__ inline float bits_i32_f32(int x) {
  union { int from; float to; } u = { x };
  return u.to;
}
extern "C" __global__ void __launch_bounds__(32) r_64_32_32_32_32_4_4_4_4(float* __restrict__ data0,
    const float* __restrict__ data1) {
  __shared__ __align__(16) float shared0[128];
  __shared__ __align__(16) float shared1[32];
  __shared__ __align__(16) float shared2[4];
  __shared__ __align__(16) float shared3[32];
  __shared__ __align__(16) float shared4[4];
  float acc0;
  float acc1;
  float acc2;
  float acc3;
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = lidx0 * 4;
  int alu1 = gidx0 * 128 + alu0;
  f32x4 val0 = *(const f32x4*)(data1 + alu1);
  shared1[lidx0] = max_f32(max_f32(val0[0], val0[1]), max_f32(val0[2], val0[3]));
  __syncthreads();
  acc0 = (-__int_as_float(0x7f800000));
  int alu2 = lidx0 / 8;
  int alu3 = alu2 * 8;
  for (int ridx5 = 0; ridx5 < 8; ridx5++) {
    acc0 = max_f32(acc0, shared1[alu3 + ridx5]);
  }
  bool alu4 = lidx0 % 8 < 1;
  if (alu4) shared2[alu2] = acc0;
  __syncthreads();
  acc1 = (-__int_as_float(0x7f800000));
  for (int ridx6 = 0; ridx6 < 4; ridx6++) {
    acc1 = max_f32(acc1, shared2[ridx6]);
  }
  float val1 = acc1;
  float alu5 = val0[0] - val1;
  float alu6 = alu5 * 1.442695f;
  float alu7 = (alu6 < (-154.0f)) ? (-154.0f) : alu6;
  float alu8 = (154.0f < alu7) ? 154.0f : alu7;
  float alu9 = alu8 + 12582912.0f;
  float alu10 = alu8 - (alu9 - 12582912.0f);
  float alu11 = fmaf(fmaf(0.00015475962f, alu10, 0.0013399613f), alu10, 0.009618006f);
  float alu12 = fmaf(fmaf(fmaf(alu11, alu10, 0.0555033f), alu10, 0.2402265f), alu10, 0.6931472f);
  int cast0 = bits_f32_i32(12582912.0f);
  int alu13 = bits_f32_i32(alu9) - cast0;
  int alu14 = alu13 >> 1;
  float alu15 = fmaf(alu10, alu12,
      1.0f) * bits_i32_f32((alu14 + 127) << 23) * bits_i32_f32((alu13 - alu14 + 127) << 23);
  float alu16 = fmaf(alu5, 1.925963e-8f, fmaf(alu5, 1.442695f, -alu6));
  shared0[alu0] = alu15 * ((alu16 * alu16 < 1.0f) ? fmaf(alu16, 0.6931472f, 1.0f) : 1.0f);
  float alu17 = val0[1] - val1;
  float alu18 = alu17 * 1.442695f;
  float alu19 = (alu18 < (-154.0f)) ? (-154.0f) : alu18;
  float alu20 = (154.0f < alu19) ? 154.0f : alu19;
  float alu21 = alu20 + 12582912.0f;
  float alu22 = alu20 - (alu21 - 12582912.0f);
  float alu23 = fmaf(fmaf(0.00015475962f, alu22, 0.0013399613f), alu22, 0.009618006f);
  float alu24 = fmaf(fmaf(fmaf(alu23, alu22, 0.0555033f), alu22, 0.2402265f), alu22, 0.6931472f);
  int alu25 = bits_f32_i32(alu21) - cast0;
  int alu26 = alu25 >> 1;
  float alu27 = fmaf(alu22, alu24,
      1.0f) * bits_i32_f32((alu26 + 127) << 23) * bits_i32_f32((alu25 - alu26 + 127) << 23);
  float alu28 = fmaf(alu17, 1.925963e-8f, fmaf(alu17, 1.442695f, -alu18));
  shared0[alu0 + 1] = alu27 * ((alu28 * alu28 < 1.0f) ? fmaf(alu28, 0.6931472f, 1.0f) : 1.0f);
  float alu29 = val0[2] - val1;
  float alu30 = alu29 * 1.442695f;
  float alu31 = (alu30 < (-154.0f)) ? (-154.0f) : alu30;
  float alu32 = (154.0f < alu31) ? 154.0f : alu31;
  float alu33 = alu32 + 12582912.0f;
  float alu34 = alu32 - (alu33 - 12582912.0f);
  float alu35 = fmaf(fmaf(0.00015475962f, alu34, 0.0013399613f), alu34, 0.009618006f);
  float alu36 = fmaf(fmaf(fmaf(alu35, alu34, 0.0555033f), alu34, 0.2402265f), alu34, 0.6931472f);
  int alu37 = bits_f32_i32(alu33) - cast0;
  int alu38 = alu37 >> 1;
  float alu39 = fmaf(alu34, alu36,
      1.0f) * bits_i32_f32((alu38 + 127) << 23) * bits_i32_f32((alu37 - alu38 + 127) << 23);
  float alu40 = fmaf(alu29, 1.925963e-8f, fmaf(alu29, 1.442695f, -alu30));
  shared0[alu0 + 2] = alu39 * ((alu40 * alu40 < 1.0f) ? fmaf(alu40, 0.6931472f, 1.0f) : 1.0f);
  float alu41 = val0[3] - val1;
  float alu42 = alu41 * 1.442695f;
  float alu43 = (alu42 < (-154.0f)) ? (-154.0f) : alu42;
  float alu44 = (154.0f < alu43) ? 154.0f : alu43;
  float alu45 = alu44 + 12582912.0f;
  float alu46 = alu44 - (alu45 - 12582912.0f);
  float alu47 = fmaf(fmaf(0.00015475962f, alu46, 0.0013399613f), alu46, 0.009618006f);
  float alu48 = fmaf(fmaf(fmaf(alu47, alu46, 0.0555033f), alu46, 0.2402265f), alu46, 0.6931472f);
  int alu49 = bits_f32_i32(alu45) - cast0;
  int alu50 = alu49 >> 1;
  float alu51 = fmaf(alu46, alu48,
      1.0f) * bits_i32_f32((alu50 + 127) << 23) * bits_i32_f32((alu49 - alu50 + 127) << 23);
  float alu52 = fmaf(alu41, 1.925963e-8f, fmaf(alu41, 1.442695f, -alu42));
  shared0[alu0 + 3] = alu51 * ((alu52 * alu52 < 1.0f) ? fmaf(alu52, 0.6931472f, 1.0f) : 1.0f);
  __syncthreads();
  float val2 = shared0[alu0];
  float val3 = shared0[alu0 + 1];
  float val4 = shared0[alu0 + 2];
  float val5 = shared0[alu0 + 3];
  shared3[lidx0] = val2 + val3 + (val4 + val5);
  __syncthreads();
  acc2 = 0.0f;
  for (int ridx7 = 0; ridx7 < 8; ridx7++) {
    acc2 = acc2 + shared3[alu3 + ridx7];
  }
  if (alu4) shared4[alu2] = acc2;
  __syncthreads();
  acc3 = 0.0f;
  for (int ridx8 = 0; ridx8 < 4; ridx8++) {
    acc3 = acc3 + shared4[ridx8];
  }
  float val6 = acc3;
  *(f32x4*)(data0 + alu1) = f32x4(val2 / val6, val3 / val6, val4 / val6, val5 / val6);
}
