// opts: Opt(VECTOR, 7, 8), Opt(VECTOR, 2, 8), Opt(VECTOR, 3, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 4, 4), Opt(VECTOR, 4, 4), Opt(UPCAST, 1, 4), Opt(UPCAST, 1, 4), Opt(UNROLL, 1, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef f32x8 f32x8_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
static inline int bits_f32_i32(float x) {
  union { float from; int to; } u = { x };
  return u.to;
}
static inline f32x2 max_f32x2(f32x2 a, f32x2 b) {
  f32x2 larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
static inline float max_f32(float a, float b) {
  float larger = b > a ? b : a;
  return b != b ? b + b : larger;
}
void r_2_4_4_4_4_4_4_4_8_8(float* restrict data0, const float* restrict data1, const float* restrict data2,
    const float* restrict data3) {
  float row2[4] __attribute__((aligned(64)));
  float row1[4] __attribute__((aligned(64)));
  float row0[4] __attribute__((aligned(64)));
  float row3[4] __attribute__((aligned(64)));
  float row6[4] __attribute__((aligned(64)));
  float row9[4] __attribute__((aligned(64)));
  float row4[4] __attribute__((aligned(64)));
  float row7[4] __attribute__((aligned(64)));
  float row10[4] __attribute__((aligned(64)));
  float row5[4] __attribute__((aligned(64)));
  float row8[4] __attribute__((aligned(64)));
  float row11[4] __attribute__((aligned(64)));
  int cast0 = bits_f32_i32(12582912.0f);
  i32x4 alu0 = (i32x4)(cast0);
  for (long long ridx0 = 0; ridx0 < 2ll; ridx0++) {
    long long alu1 = ridx0 * 32ll;
    f32x8 val0 = *(const f32x8_m*)(data1 + alu1);
    f32x8 val1 = *(const f32x8_m*)(data2 + alu1);
    f32x8 alu2 = val0 * val1;
    f32x4 alu3 = __builtin_shufflevector(alu2, alu2, 0, 1, 2, 3) + __builtin_shufflevector(alu2, alu2, 4, 5,
        6, 7);
    f32x2 alu4 = __builtin_shufflevector(alu3, alu3, 0, 1) + __builtin_shufflevector(alu3, alu3, 2, 3);
    row2[0ll] = (alu4[0] + alu4[1]) / 2.828427f;
    long long alu5 = alu1 + 8ll;
    f32x8 val2 = *(const f32x8_m*)(data2 + alu5);
    f32x8 alu6 = val0 * val2;
    f32x4 alu7 = __builtin_shufflevector(alu6, alu6, 0, 1, 2, 3) + __builtin_shufflevector(alu6, alu6, 4, 5,
        6, 7);
    f32x2 alu8 = __builtin_shufflevector(alu7, alu7, 0, 1) + __builtin_shufflevector(alu7, alu7, 2, 3);
    row2[1ll] = (alu8[0] + alu8[1]) / 2.828427f;
    long long alu9 = alu1 + 16ll;
    f32x8 val3 = *(const f32x8_m*)(data2 + alu9);
    f32x8 alu10 = val0 * val3;
    f32x4 alu11 = __builtin_shufflevector(alu10, alu10, 0, 1, 2, 3) + __builtin_shufflevector(alu10, alu10, 4,
        5, 6, 7);
    f32x2 alu12 = __builtin_shufflevector(alu11, alu11, 0, 1) + __builtin_shufflevector(alu11, alu11, 2, 3);
    row2[2ll] = (alu12[0] + alu12[1]) / 2.828427f;
    long long alu13 = alu1 + 24ll;
    f32x8 val4 = *(const f32x8_m*)(data2 + alu13);
    f32x8 alu14 = val0 * val4;
    f32x4 alu15 = __builtin_shufflevector(alu14, alu14, 0, 1, 2, 3) + __builtin_shufflevector(alu14, alu14, 4,
        5, 6, 7);
    f32x2 alu16 = __builtin_shufflevector(alu15, alu15, 0, 1) + __builtin_shufflevector(alu15, alu15, 2, 3);
    row2[3ll] = (alu16[0] + alu16[1]) / 2.828427f;
    f32x4 val5 = *(f32x4_m*)row2;
    f32x2 alu17 = max_f32x2(__builtin_shufflevector(val5, val5, 0, 1), __builtin_shufflevector(val5, val5, 2,
        3));
    float alu18 = max_f32(alu17[0], alu17[1]);
    f32x4 alu19 = val5 - (f32x4)(alu18);
    f32x4 alu20 = alu19 * (f32x4)(1.442695f);
    f32x4 alu21 = (i32x4)(alu20 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu20;
    f32x4 alu22 = (i32x4)((f32x4)(154.0f) < alu21) ? (f32x4)(154.0f) : alu21;
    f32x4 alu23 = alu22 + (f32x4)(12582912.0f);
    f32x4 alu24 = alu22 - (alu23 - (f32x4)(12582912.0f));
    f32x4 alu25 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu24, (f32x4)(0.0013399613f));
    f32x4 alu26 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu25, alu24, (f32x4)(0.009618006f)),
        alu24, (f32x4)(0.0555033f));
    f32x4 alu27 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu26, alu24, (f32x4)(0.2402265f)),
        alu24, (f32x4)(0.6931472f));
    i32x4 alu28 = (i32x4)(alu23) - alu0;
    i32x4 alu29 = alu28 >> (i32x4)(1);
    f32x4 alu30 = __builtin_elementwise_fma(alu24, alu27,
        (f32x4)(1.0f)) * (f32x4)((alu29 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu31 = __builtin_elementwise_fma(alu19, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu19,
        (f32x4)(1.442695f), -alu20));
    f32x4 alu32 = __builtin_elementwise_fma(alu31, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu33 = alu30 * (f32x4)((alu28 - alu29 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu31 * alu31 < (f32x4)(1.0f)) ? alu32 : (f32x4)(1.0f));
    *(f32x4_m*)row1 = alu33;
    f32x4 val6 = *(f32x4_m*)row1;
    f32x2 alu34 = __builtin_shufflevector(val6, val6, 0, 1) + __builtin_shufflevector(val6, val6, 2, 3);
    float alu35 = alu34[0] + alu34[1];
    *(f32x4_m*)row0 = val6 / (f32x4)(alu35);
    f32x8 val7 = *(const f32x8_m*)(data1 + alu5);
    f32x8 alu36 = val7 * val1;
    f32x4 alu37 = __builtin_shufflevector(alu36, alu36, 0, 1, 2, 3) + __builtin_shufflevector(alu36, alu36, 4,
        5, 6, 7);
    f32x2 alu38 = __builtin_shufflevector(alu37, alu37, 0, 1) + __builtin_shufflevector(alu37, alu37, 2, 3);
    row3[0ll] = (alu38[0] + alu38[1]) / 2.828427f;
    f32x8 alu39 = val7 * val2;
    f32x4 alu40 = __builtin_shufflevector(alu39, alu39, 0, 1, 2, 3) + __builtin_shufflevector(alu39, alu39, 4,
        5, 6, 7);
    f32x2 alu41 = __builtin_shufflevector(alu40, alu40, 0, 1) + __builtin_shufflevector(alu40, alu40, 2, 3);
    row3[1ll] = (alu41[0] + alu41[1]) / 2.828427f;
    f32x8 alu42 = val7 * val3;
    f32x4 alu43 = __builtin_shufflevector(alu42, alu42, 0, 1, 2, 3) + __builtin_shufflevector(alu42, alu42, 4,
        5, 6, 7);
    f32x2 alu44 = __builtin_shufflevector(alu43, alu43, 0, 1) + __builtin_shufflevector(alu43, alu43, 2, 3);
    row3[2ll] = (alu44[0] + alu44[1]) / 2.828427f;
    f32x8 alu45 = val7 * val4;
    f32x4 alu46 = __builtin_shufflevector(alu45, alu45, 0, 1, 2, 3) + __builtin_shufflevector(alu45, alu45, 4,
        5, 6, 7);
    f32x2 alu47 = __builtin_shufflevector(alu46, alu46, 0, 1) + __builtin_shufflevector(alu46, alu46, 2, 3);
    row3[3ll] = (alu47[0] + alu47[1]) / 2.828427f;
    f32x4 val8 = *(f32x4_m*)row3;
    f32x2 alu48 = max_f32x2(__builtin_shufflevector(val8, val8, 0, 1), __builtin_shufflevector(val8, val8, 2,
        3));
    float alu49 = max_f32(alu48[0], alu48[1]);
    f32x4 alu50 = val8 - (f32x4)(alu49);
    f32x4 alu51 = alu50 * (f32x4)(1.442695f);
    f32x4 alu52 = (i32x4)(alu51 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu51;
    f32x4 alu53 = (i32x4)((f32x4)(154.0f) < alu52) ? (f32x4)(154.0f) : alu52;
    f32x4 alu54 = alu53 + (f32x4)(12582912.0f);
    f32x4 alu55 = alu53 - (alu54 - (f32x4)(12582912.0f));
    f32x4 alu56 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu55, (f32x4)(0.0013399613f));
    f32x4 alu57 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu56, alu55, (f32x4)(0.009618006f)),
        alu55, (f32x4)(0.0555033f));
    f32x4 alu58 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu57, alu55, (f32x4)(0.2402265f)),
        alu55, (f32x4)(0.6931472f));
    i32x4 alu59 = (i32x4)(alu54) - alu0;
    i32x4 alu60 = alu59 >> (i32x4)(1);
    f32x4 alu61 = __builtin_elementwise_fma(alu55, alu58,
        (f32x4)(1.0f)) * (f32x4)((alu60 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu62 = __builtin_elementwise_fma(alu50, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu50,
        (f32x4)(1.442695f), -alu51));
    f32x4 alu63 = __builtin_elementwise_fma(alu62, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu64 = alu61 * (f32x4)((alu59 - alu60 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu62 * alu62 < (f32x4)(1.0f)) ? alu63 : (f32x4)(1.0f));
    *(f32x4_m*)row6 = alu64;
    f32x4 val9 = *(f32x4_m*)row6;
    f32x2 alu65 = __builtin_shufflevector(val9, val9, 0, 1) + __builtin_shufflevector(val9, val9, 2, 3);
    float alu66 = alu65[0] + alu65[1];
    *(f32x4_m*)row9 = val9 / (f32x4)(alu66);
    f32x8 val10 = *(const f32x8_m*)(data1 + alu9);
    f32x8 alu67 = val10 * val1;
    f32x4 alu68 = __builtin_shufflevector(alu67, alu67, 0, 1, 2, 3) + __builtin_shufflevector(alu67, alu67, 4,
        5, 6, 7);
    f32x2 alu69 = __builtin_shufflevector(alu68, alu68, 0, 1) + __builtin_shufflevector(alu68, alu68, 2, 3);
    row4[0ll] = (alu69[0] + alu69[1]) / 2.828427f;
    f32x8 alu70 = val10 * val2;
    f32x4 alu71 = __builtin_shufflevector(alu70, alu70, 0, 1, 2, 3) + __builtin_shufflevector(alu70, alu70, 4,
        5, 6, 7);
    f32x2 alu72 = __builtin_shufflevector(alu71, alu71, 0, 1) + __builtin_shufflevector(alu71, alu71, 2, 3);
    row4[1ll] = (alu72[0] + alu72[1]) / 2.828427f;
    f32x8 alu73 = val10 * val3;
    f32x4 alu74 = __builtin_shufflevector(alu73, alu73, 0, 1, 2, 3) + __builtin_shufflevector(alu73, alu73, 4,
        5, 6, 7);
    f32x2 alu75 = __builtin_shufflevector(alu74, alu74, 0, 1) + __builtin_shufflevector(alu74, alu74, 2, 3);
    row4[2ll] = (alu75[0] + alu75[1]) / 2.828427f;
    f32x8 alu76 = val10 * val4;
    f32x4 alu77 = __builtin_shufflevector(alu76, alu76, 0, 1, 2, 3) + __builtin_shufflevector(alu76, alu76, 4,
        5, 6, 7);
    f32x2 alu78 = __builtin_shufflevector(alu77, alu77, 0, 1) + __builtin_shufflevector(alu77, alu77, 2, 3);
    row4[3ll] = (alu78[0] + alu78[1]) / 2.828427f;
    f32x4 val11 = *(f32x4_m*)row4;
    f32x2 alu79 = max_f32x2(__builtin_shufflevector(val11, val11, 0, 1), __builtin_shufflevector(val11, val11,
        2, 3));
    float alu80 = max_f32(alu79[0], alu79[1]);
    f32x4 alu81 = val11 - (f32x4)(alu80);
    f32x4 alu82 = alu81 * (f32x4)(1.442695f);
    f32x4 alu83 = (i32x4)(alu82 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu82;
    f32x4 alu84 = (i32x4)((f32x4)(154.0f) < alu83) ? (f32x4)(154.0f) : alu83;
    f32x4 alu85 = alu84 + (f32x4)(12582912.0f);
    f32x4 alu86 = alu84 - (alu85 - (f32x4)(12582912.0f));
    f32x4 alu87 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu86, (f32x4)(0.0013399613f));
    f32x4 alu88 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu87, alu86, (f32x4)(0.009618006f)),
        alu86, (f32x4)(0.0555033f));
    f32x4 alu89 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu88, alu86, (f32x4)(0.2402265f)),
        alu86, (f32x4)(0.6931472f));
    i32x4 alu90 = (i32x4)(alu85) - alu0;
    i32x4 alu91 = alu90 >> (i32x4)(1);
    f32x4 alu92 = __builtin_elementwise_fma(alu86, alu89,
        (f32x4)(1.0f)) * (f32x4)((alu91 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu93 = __builtin_elementwise_fma(alu81, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu81,
        (f32x4)(1.442695f), -alu82));
    f32x4 alu94 = __builtin_elementwise_fma(alu93, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu95 = alu92 * (f32x4)((alu90 - alu91 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu93 * alu93 < (f32x4)(1.0f)) ? alu94 : (f32x4)(1.0f));
    *(f32x4_m*)row7 = alu95;
    f32x4 val12 = *(f32x4_m*)row7;
    f32x2 alu96 = __builtin_shufflevector(val12, val12, 0, 1) + __builtin_shufflevector(val12, val12, 2, 3);
    float alu97 = alu96[0] + alu96[1];
    *(f32x4_m*)row10 = val12 / (f32x4)(alu97);
    f32x8 val13 = *(const f32x8_m*)(data1 + alu13);
    f32x8 alu98 = val13 * val1;
    f32x4 alu99 = __builtin_shufflevector(alu98, alu98, 0, 1, 2, 3) + __builtin_shufflevector(alu98, alu98, 4,
        5, 6, 7);
    f32x2 alu100 = __builtin_shufflevector(alu99, alu99, 0, 1) + __builtin_shufflevector(alu99, alu99, 2, 3);
    row5[0ll] = (alu100[0] + alu100[1]) / 2.828427f;
    f32x8 alu101 = val13 * val2;
    f32x4 alu102 = __builtin_shufflevector(alu101, alu101, 0, 1, 2, 3) + __builtin_shufflevector(alu101,
        alu101, 4, 5, 6, 7);
    f32x2 alu103 = __builtin_shufflevector(alu102, alu102, 0, 1) + __builtin_shufflevector(alu102, alu102, 2,
        3);
    row5[1ll] = (alu103[0] + alu103[1]) / 2.828427f;
    f32x8 alu104 = val13 * val3;
    f32x4 alu105 = __builtin_shufflevector(alu104, alu104, 0, 1, 2, 3) + __builtin_shufflevector(alu104,
        alu104, 4, 5, 6, 7);
    f32x2 alu106 = __builtin_shufflevector(alu105, alu105, 0, 1) + __builtin_shufflevector(alu105, alu105, 2,
        3);
    row5[2ll] = (alu106[0] + alu106[1]) / 2.828427f;
    f32x8 alu107 = val13 * val4;
    f32x4 alu108 = __builtin_shufflevector(alu107, alu107, 0, 1, 2, 3) + __builtin_shufflevector(alu107,
        alu107, 4, 5, 6, 7);
    f32x2 alu109 = __builtin_shufflevector(alu108, alu108, 0, 1) + __builtin_shufflevector(alu108, alu108, 2,
        3);
    row5[3ll] = (alu109[0] + alu109[1]) / 2.828427f;
    f32x4 val14 = *(f32x4_m*)row5;
    f32x2 alu110 = max_f32x2(__builtin_shufflevector(val14, val14, 0, 1), __builtin_shufflevector(val14,
        val14, 2, 3));
    float alu111 = max_f32(alu110[0], alu110[1]);
    f32x4 alu112 = val14 - (f32x4)(alu111);
    f32x4 alu113 = alu112 * (f32x4)(1.442695f);
    f32x4 alu114 = (i32x4)(alu113 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu113;
    f32x4 alu115 = (i32x4)((f32x4)(154.0f) < alu114) ? (f32x4)(154.0f) : alu114;
    f32x4 alu116 = alu115 + (f32x4)(12582912.0f);
    f32x4 alu117 = alu115 - (alu116 - (f32x4)(12582912.0f));
    f32x4 alu118 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu117, (f32x4)(0.0013399613f));
    f32x4 alu119 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu118, alu117, (f32x4)(0.009618006f)),
        alu117, (f32x4)(0.0555033f));
    f32x4 alu120 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu119, alu117, (f32x4)(0.2402265f)),
        alu117, (f32x4)(0.6931472f));
    i32x4 alu121 = (i32x4)(alu116) - alu0;
    i32x4 alu122 = alu121 >> (i32x4)(1);
    f32x4 alu123 = __builtin_elementwise_fma(alu117, alu120,
        (f32x4)(1.0f)) * (f32x4)((alu122 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu124 = alu123 * (f32x4)((alu121 - alu122 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu125 = __builtin_elementwise_fma(alu112, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu112,
        (f32x4)(1.442695f), -alu113));
    f32x4 alu126 = __builtin_elementwise_fma(alu125, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu127 = (i32x4)(alu125 * alu125 < (f32x4)(1.0f)) ? alu126 : (f32x4)(1.0f);
    *(f32x4_m*)row8 = alu124 * alu127;
    f32x4 val15 = *(f32x4_m*)row8;
    f32x2 alu128 = __builtin_shufflevector(val15, val15, 0, 1) + __builtin_shufflevector(val15, val15, 2, 3);
    float alu129 = alu128[0] + alu128[1];
    *(f32x4_m*)row11 = val15 / (f32x4)(alu129);
    float val16 = row0[2ll];
    f32x8 val17 = *(const f32x8_m*)(data3 + alu9);
    float val18 = row0[0ll];
    f32x8 val19 = *(const f32x8_m*)(data3 + alu1);
    f32x8 alu130 = __builtin_elementwise_fma((f32x8)(val16), val17, (f32x8)(val18) * val19);
    float val20 = row0[3ll];
    f32x8 val21 = *(const f32x8_m*)(data3 + alu13);
    float val22 = row0[1ll];
    f32x8 val23 = *(const f32x8_m*)(data3 + alu5);
    f32x8 alu131 = __builtin_elementwise_fma((f32x8)(val20), val21, (f32x8)(val22) * val23);
    float val24 = row9[2ll];
    float val25 = row9[0ll];
    f32x8 alu132 = __builtin_elementwise_fma((f32x8)(val24), val17, (f32x8)(val25) * val19);
    float val26 = row9[3ll];
    float val27 = row9[1ll];
    f32x8 alu133 = __builtin_elementwise_fma((f32x8)(val26), val21, (f32x8)(val27) * val23);
    float val28 = row10[2ll];
    float val29 = row10[0ll];
    f32x8 alu134 = __builtin_elementwise_fma((f32x8)(val28), val17, (f32x8)(val29) * val19);
    float val30 = row10[3ll];
    float val31 = row10[1ll];
    f32x8 alu135 = __builtin_elementwise_fma((f32x8)(val30), val21, (f32x8)(val31) * val23);
    float val32 = row11[2ll];
    float val33 = row11[0ll];
    f32x8 alu136 = __builtin_elementwise_fma((f32x8)(val32), val17, (f32x8)(val33) * val19);
    float val34 = row11[3ll];
    float val35 = row11[1ll];
    f32x8 alu137 = __builtin_elementwise_fma((f32x8)(val34), val21, (f32x8)(val35) * val23);
    *(f32x8_m*)(data0 + alu1) = alu130 + alu131;
    *(f32x8_m*)(data0 + alu5) = alu132 + alu133;
    *(f32x8_m*)(data0 + alu9) = alu134 + alu135;
    *(f32x8_m*)(data0 + alu13) = alu136 + alu137;
  }
}
