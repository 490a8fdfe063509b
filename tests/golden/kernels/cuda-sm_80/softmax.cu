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
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}
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
  float row0[4] __attribute__((aligned(64)));
  int gidx0 = blockIdx.x;
  int lidx0 = threadIdx.x;
  int alu0 = gidx0 * 128 + lidx0 * 4;
  f32x4 val0 = *(const f32x4*)(data1 + alu0);
  float alu1 = max_f32(max_f32(val0[0], val0[1]), max_f32(val0[2], val0[3]));
  float other0 = other_lane(alu1, 1);
  float alu2 = max_f32(alu1, other0);
  float other1 = other_lane(alu2, 2);
  float alu3 = max_f32(alu2, other1);
  float other2 = other_lane(alu3, 4);
  float alu4 = max_f32(alu3, other2);
  float other3 = other_lane(alu4, 8);
  float alu5 = max_f32(alu4, other3);
  float other4 = other_lane(alu5, 16);
  float alu6 = max_f32(alu5, other4);
  float alu7 = val0[0] - alu6;
  float alu8 = alu7 * 1.442695f;
  float alu9 = (alu8 < (-154.0f)) ? (-154.0f) : alu8;
  float alu10 = (154.0f < alu9) ? 154.0f : alu9;
  float alu11 = alu10 + 12582912.0f;
  float alu12 = alu10 - (alu11 - 12582912.0f);
  float alu13 = fmaf(fmaf(0.00015475962f, alu12, 0.0013399613f), alu12, 0.009618006f);
  float alu14 = fmaf(fmaf(fmaf(alu13, alu12, 0.0555033f), alu12, 0.2402265f), alu12, 0.6931472f);
  int cast0 = bits_f32_i32(12582912.0f);
  int alu15 = (int)((unsigned int)bits_f32_i32(alu11) - (unsigned int)cast0);
  int alu16 = alu15 >> 1;
  float alu17 = fmaf(alu12, alu14, 1.0f) * bits_i32_f32((int)((unsigned int)(alu16 + 127) << 23u));
  float cast1 = bits_i32_f32((int)(((unsigned int)alu15 - (unsigned int)alu16 + 127u) << 23u));
  float alu18 = fmaf(alu7, 1.925963e-8f, fmaf(alu7, 1.442695f, -alu8));
  row0[0] = alu17 * cast1 * ((alu18 * alu18 < 1.0f) ? fmaf(alu18, 0.6931472f, 1.0f) : 1.0f);
  float alu19 = val0[1] - alu6;
  float alu20 = alu19 * 1.442695f;
  float alu21 = (alu20 < (-154.0f)) ? (-154.0f) : alu20;
  float alu22 = (154.0f < alu21) ? 154.0f : alu21;
  float alu23 = alu22 + 12582912.0f;
  float alu24 = alu22 - (alu23 - 12582912.0f);
  float alu25 = fmaf(fmaf(0.00015475962f, alu24, 0.0013399613f), alu24, 0.009618006f);
  float alu26 = fmaf(fmaf(fmaf(alu25, alu24, 0.0555033f), alu24, 0.2402265f), alu24, 0.6931472f);
  int alu27 = (int)((unsigned int)bits_f32_i32(alu23) - (unsigned int)cast0);
  int alu28 = alu27 >> 1;
  float alu29 = fmaf(alu24, alu26, 1.0f) * bits_i32_f32((int)((unsigned int)(alu28 + 127) << 23u));
  float cast2 = bits_i32_f32((int)(((unsigned int)alu27 - (unsigned int)alu28 + 127u) << 23u));
  float alu30 = fmaf(alu19, 1.925963e-8f, fmaf(alu19, 1.442695f, -alu20));
  row0[1] = alu29 * cast2 * ((alu30 * alu30 < 1.0f) ? fmaf(alu30, 0.6931472f, 1.0f) : 1.0f);
  float alu31 = val0[2] - alu6;
  float alu32 = alu31 * 1.442695f;
  float alu33 = (alu32 < (-154.0f)) ? (-154.0f) : alu32;
  float alu34 = (154.0f < alu33) ? 154.0f : alu33;
  float alu35 = alu34 + 12582912.0f;
  float alu36 = alu34 - (alu35 - 12582912.0f);
  float alu37 = fmaf(fmaf(0.00015475962f, alu36, 0.0013399613f), alu36, 0.009618006f);
  float alu38 = fmaf(fmaf(fmaf(alu37, alu36, 0.0555033f), alu36, 0.2402265f), alu36, 0.6931472f);
  int alu39 = (int)((unsigned int)bits_f32_i32(alu35) - (unsigned int)cast0);
  int alu40 = alu39 >> 1;
  float alu41 = fmaf(alu36, alu38, 1.0f) * bits_i32_f32((int)((unsigned int)(alu40 + 127) << 23u));
  float cast3 = bits_i32_f32((int)(((unsigned int)alu39 - (unsigned int)alu40 + 127u) << 23u));
  float alu42 = fmaf(alu31, 1.925963e-8f, fmaf(alu31, 1.442695f, -alu32));
  row0[2] = alu41 * cast3 * ((alu42 * alu42 < 1.0f) ? fmaf(alu42, 0.6931472f, 1.0f) : 1.0f);
  float alu43 = val0[3] - alu6;
  float alu44 = alu43 * 1.442695f;
  float alu45 = (alu44 < (-154.0f)) ? (-154.0f) : alu44;
  float alu46 = (154.0f < alu45) ? 154.0f : alu45;
  float alu47 = alu46 + 12582912.0f;
  float alu48 = alu46 - (alu47 - 12582912.0f);
  float alu49 = fmaf(fmaf(0.00015475962f, alu48, 0.0013399613f), alu48, 0.009618006f);
  float alu50 = fmaf(fmaf(fmaf(alu49, alu48, 0.0555033f), alu48, 0.2402265f), alu48, 0.6931472f);
  int alu51 = (int)((unsigned int)bits_f32_i32(alu47) - (unsigned int)cast0);
  int alu52 = alu51 >> 1;
  float alu53 = fmaf(alu48, alu50, 1.0f) * bits_i32_f32((int)((unsigned int)(alu52 + 127) << 23u));
  float cast4 = bits_i32_f32((int)(((unsigned int)alu51 - (unsigned int)alu52 + 127u) << 23u));
  float alu54 = fmaf(alu43, 1.925963e-8f, fmaf(alu43, 1.442695f, -alu44));
  row0[3] = alu53 * cast4 * ((alu54 * alu54 < 1.0f) ? fmaf(alu54, 0.6931472f, 1.0f) : 1.0f);
  float val1 = row0[0];
  float val2 = row0[1];
  float val3 = row0[2];
  float val4 = row0[3];
  float alu55 = val1 + val2 + (val3 + val4);
  float other5 = other_lane(alu55, 1);
  float alu56 = alu55 + other5;
  float other6 = other_lane(alu56, 2);
  float alu57 = alu56 + other6;
  float other7 = other_lane(alu57, 4);
  float alu58 = alu57 + other7;
  float other8 = other_lane(alu58, 8);
  float alu59 = alu58 + other8;
  float other9 = other_lane(alu59, 16);
  float alu60 = alu59 + other9;
  *(f32x4*)(data0 + alu0) = f32x4(val1 / alu60, val2 / alu60, val3 / alu60, val4 / alu60);
}
