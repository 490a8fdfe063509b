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
  float alu17 = alu15 * ((alu16 * alu16 < 1.0f) ? fmaf(alu16, 0.6931472f, 1.0f) : 1.0f);
  float alu18 = val0[1] - val1;
  float alu19 = alu18 * 1.442695f;
  float alu20 = (alu19 < (-154.0f)) ? (-154.0f) : alu19;
  float alu21 = (154.0f < alu20) ? 154.0f : alu20;
  float alu22 = alu21 + 12582912.0f;
  float alu23 = alu21 - (alu22 - 12582912.0f);
  float alu24 = fmaf(fmaf(0.00015475962f, alu23, 0.0013399613f), alu23, 0.009618006f);
  float alu25 = fmaf(fmaf(fmaf(alu24, alu23, 0.0555033f), alu23, 0.2402265f), alu23, 0.6931472f);
  int alu26 = bits_f32_i32(alu22) - cast0;
  int alu27 = alu26 >> 1;
  float alu28 = fmaf(alu23, alu25,
      1.0f) * bits_i32_f32((alu27 + 127) << 23) * bits_i32_f32((alu26 - alu27 + 127) << 23);
  float alu29 = fmaf(alu18, 1.925963e-8f, fmaf(alu18, 1.442695f, -alu19));
  float alu30 = alu28 * ((alu29 * alu29 < 1.0f) ? fmaf(alu29, 0.6931472f, 1.0f) : 1.0f);
  float alu31 = val0[2] - val1;
  float alu32 = alu31 * 1.442695f;
  float alu33 = (alu32 < (-154.0f)) ? (-154.0f) : alu32;
  float alu34 = (154.0f < alu33) ? 154.0f : alu33;
  float alu35 = alu34 + 12582912.0f;
  float alu36 = alu34 - (alu35 - 12582912.0f);
  float alu37 = fmaf(fmaf(0.00015475962f, alu36, 0.0013399613f), alu36, 0.009618006f);
  float alu38 = fmaf(fmaf(fmaf(alu37, alu36, 0.0555033f), alu36, 0.2402265f), alu36, 0.6931472f);
  int alu39 = bits_f32_i32(alu35) - cast0;
  int alu40 = alu39 >> 1;
  float alu41 = fmaf(alu36, alu38,
      1.0f) * bits_i32_f32((alu40 + 127) << 23) * bits_i32_f32((alu39 - alu40 + 127) << 23);
  float alu42 = fmaf(alu31, 1.925963e-8f, fmaf(alu31, 1.442695f, -alu32));
  float alu43 = alu41 * ((alu42 * alu42 < 1.0f) ? fmaf(alu42, 0.6931472f, 1.0f) : 1.0f);
  float alu44 = val0[3] - val1;
  float alu45 = alu44 * 1.442695f;
  float alu46 = (alu45 < (-154.0f)) ? (-154.0f) : alu45;
  float alu47 = (154.0f < alu46) ? 154.0f : alu46;
  float alu48 = alu47 + 12582912.0f;
  float alu49 = alu47 - (alu48 - 12582912.0f);
  float alu50 = fmaf(fmaf(0.00015475962f, alu49, 0.0013399613f), alu49, 0.009618006f);
  float alu51 = fmaf(fmaf(fmaf(alu50, alu49, 0.0555033f), alu49, 0.2402265f), alu49, 0.6931472f);
  int alu52 = bits_f32_i32(alu48) - cast0;
  int alu53 = alu52 >> 1;
  float alu54 = fmaf(alu49, alu51,
      1.0f) * bits_i32_f32((alu53 + 127) << 23) * bits_i32_f32((alu52 - alu53 + 127) << 23);
  float alu55 = fmaf(alu44, 1.925963e-8f, fmaf(alu44, 1.442695f, -alu45));
  float alu56 = alu54 * ((alu55 * alu55 < 1.0f) ? fmaf(alu55, 0.6931472f, 1.0f) : 1.0f);
  *(f32x4*)(shared0 + alu0) = f32x4(alu17, alu30, alu43, alu56);
  __syncthreads();
  f32x4 val2 = *(f32x4*)(shared0 + alu0);
  shared3[lidx0] = val2[0] + val2[1] + (val2[2] + val2[3]);
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
  float val3 = acc3;
  *(f32x4*)(data0 + alu1) = f32x4(val2[0] / val3, val2[1] / val3, val2[2] / val3, val2[3] / val3);
}
