// opts: Opt(VECTOR, 7, 4), Opt(VECTOR, 2, 4), Opt(VECTOR, 4, 4), Opt(VECTOR, 3, 4), Opt(VECTOR, 6, 4), Opt(VECTOR, 6, 4), Opt(UPCAST, 1, 4), Opt(UPCAST, 2, 4), Opt(UPCAST, 1, 2), Opt(UNROLL, 2, 0), Opt(UNROLL, 1, 0)
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef f32x4 f32x4_m __attribute__((aligned(4), may_alias));
typedef float f32x2 __attribute__((ext_vector_type(2)));
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
void r_2_2_4_4_4_2_4_4_4_4_4_4(float* restrict data0, const float* restrict data1,
    const float* restrict data2, const float* restrict data3) {
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
    long long alu2 = alu1 + 4ll;
    f32x4 val0 = *(const f32x4_m*)(data1 + alu2);
    f32x4 val1 = *(const f32x4_m*)(data2 + alu2);
    f32x4 val2 = *(const f32x4_m*)(data1 + alu1);
    f32x4 val3 = *(const f32x4_m*)(data2 + alu1);
    f32x4 alu3 = __builtin_elementwise_fma(val0, val1, val2 * val3);
    f32x2 alu4 = __builtin_shufflevector(alu3, alu3, 0, 1) + __builtin_shufflevector(alu3, alu3, 2, 3);
    row2[0ll] = (alu4[0] + alu4[1]) / 2.828427f;
    long long alu5 = alu1 + 12ll;
    f32x4 val4 = *(const f32x4_m*)(data2 + alu5);
    long long alu6 = alu1 + 8ll;
    f32x4 val5 = *(const f32x4_m*)(data2 + alu6);
    f32x4 alu7 = __builtin_elementwise_fma(val0, val4, val2 * val5);
    f32x2 alu8 = __builtin_shufflevector(alu7, alu7, 0, 1) + __builtin_shufflevector(alu7, alu7, 2, 3);
    row2[1ll] = (alu8[0] + alu8[1]) / 2.828427f;
    long long alu9 = alu1 + 20ll;
    f32x4 val6 = *(const f32x4_m*)(data2 + alu9);
    long long alu10 = alu1 + 16ll;
    f32x4 val7 = *(const f32x4_m*)(data2 + alu10);
    f32x4 alu11 = __builtin_elementwise_fma(val0, val6, val2 * val7);
    f32x2 alu12 = __builtin_shufflevector(alu11, alu11, 0, 1) + __builtin_shufflevector(alu11, alu11, 2, 3);
    row2[2ll] = (alu12[0] + alu12[1]) / 2.828427f;
    long long alu13 = alu1 + 28ll;
    f32x4 val8 = *(const f32x4_m*)(data2 + alu13);
    long long alu14 = alu1 + 24ll;
    f32x4 val9 = *(const f32x4_m*)(data2 + alu14);
    f32x4 alu15 = __builtin_elementwise_fma(val0, val8, val2 * val9);
    f32x2 alu16 = __builtin_shufflevector(alu15, alu15, 0, 1) + __builtin_shufflevector(alu15, alu15, 2, 3);
    row2[3ll] = (alu16[0] + alu16[1]) / 2.828427f;
    f32x4 val10 = *(f32x4_m*)row2;
    f32x2 alu17 = max_f32x2(__builtin_shufflevector(val10, val10, 0, 1), __builtin_shufflevector(val10, val10,
        2, 3));
    float alu18 = max_f32(alu17[0], alu17[1]);
    f32x4 alu19 = val10 - (f32x4)(alu18);
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
    f32x4 val11 = *(f32x4_m*)row1;
    f32x2 alu34 = __builtin_shufflevector(val11, val11, 0, 1) + __builtin_shufflevector(val11, val11, 2, 3);
    float alu35 = alu34[0] + alu34[1];
    *(f32x4_m*)row0 = val11 / (f32x4)(alu35);
    f32x4 val12 = *(const f32x4_m*)(data1 + alu5);
    f32x4 val13 = *(const f32x4_m*)(data1 + alu6);
    f32x4 alu36 = __builtin_elementwise_fma(val12, val1, val13 * val3);
    f32x2 alu37 = __builtin_shufflevector(alu36, alu36, 0, 1) + __builtin_shufflevector(alu36, alu36, 2, 3);
    row3[0ll] = (alu37[0] + alu37[1]) / 2.828427f;
    f32x4 alu38 = __builtin_elementwise_fma(val12, val4, val13 * val5);
    f32x2 alu39 = __builtin_shufflevector(alu38, alu38, 0, 1) + __builtin_shufflevector(alu38, alu38, 2, 3);
    row3[1ll] = (alu39[0] + alu39[1]) / 2.828427f;
    f32x4 alu40 = __builtin_elementwise_fma(val12, val6, val13 * val7);
    f32x2 alu41 = __builtin_shufflevector(alu40, alu40, 0, 1) + __builtin_shufflevector(alu40, alu40, 2, 3);
    row3[2ll] = (alu41[0] + alu41[1]) / 2.828427f;
    f32x4 alu42 = __builtin_elementwise_fma(val12, val8, val13 * val9);
    f32x2 alu43 = __builtin_shufflevector(alu42, alu42, 0, 1) + __builtin_shufflevector(alu42, alu42, 2, 3);
    row3[3ll] = (alu43[0] + alu43[1]) / 2.828427f;
    f32x4 val14 = *(f32x4_m*)row3;
    f32x2 alu44 = max_f32x2(__builtin_shufflevector(val14, val14, 0, 1), __builtin_shufflevector(val14, val14,
        2, 3));
    float alu45 = max_f32(alu44[0], alu44[1]);
    f32x4 alu46 = val14 - (f32x4)(alu45);
    f32x4 alu47 = alu46 * (f32x4)(1.442695f);
    f32x4 alu48 = (i32x4)(alu47 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu47;
    f32x4 alu49 = (i32x4)((f32x4)(154.0f) < alu48) ? (f32x4)(154.0f) : alu48;
    f32x4 alu50 = alu49 + (f32x4)(12582912.0f);
    f32x4 alu51 = alu49 - (alu50 - (f32x4)(12582912.0f));
    f32x4 alu52 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu51, (f32x4)(0.0013399613f));
    f32x4 alu53 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu52, alu51, (f32x4)(0.009618006f)),
        alu51, (f32x4)(0.0555033f));
    f32x4 alu54 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu53, alu51, (f32x4)(0.2402265f)),
        alu51, (f32x4)(0.6931472f));
    i32x4 alu55 = (i32x4)(alu50) - alu0;
    i32x4 alu56 = alu55 >> (i32x4)(1);
    f32x4 alu57 = __builtin_elementwise_fma(alu51, alu54,
        (f32x4)(1.0f)) * (f32x4)((alu56 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu58 = __builtin_elementwise_fma(alu46, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu46,
        (f32x4)(1.442695f), -alu47));
    f32x4 alu59 = __builtin_elementwise_fma(alu58, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu60 = alu57 * (f32x4)((alu55 - alu56 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu58 * alu58 < (f32x4)(1.0f)) ? alu59 : (f32x4)(1.0f));
    *(f32x4_m*)row6 = alu60;
    f32x4 val15 = *(f32x4_m*)row6;
    f32x2 alu61 = __builtin_shufflevector(val15, val15, 0, 1) + __builtin_shufflevector(val15, val15, 2, 3);
    float alu62 = alu61[0] + alu61[1];
    *(f32x4_m*)row9 = val15 / (f32x4)(alu62);
    f32x4 val16 = *(const f32x4_m*)(data1 + alu9);
    f32x4 val17 = *(const f32x4_m*)(data1 + alu10);
    f32x4 alu63 = __builtin_elementwise_fma(val16, val1, val17 * val3);
    f32x2 alu64 = __builtin_shufflevector(alu63, alu63, 0, 1) + __builtin_shufflevector(alu63, alu63, 2, 3);
    row4[0ll] = (alu64[0] + alu64[1]) / 2.828427f;
    f32x4 alu65 = __builtin_elementwise_fma(val16, val4, val17 * val5);
    f32x2 alu66 = __builtin_shufflevector(alu65, alu65, 0, 1) + __builtin_shufflevector(alu65, alu65, 2, 3);
    row4[1ll] = (alu66[0] + alu66[1]) / 2.828427f;
    f32x4 alu67 = __builtin_elementwise_fma(val16, val6, val17 * val7);
    f32x2 alu68 = __builtin_shufflevector(alu67, alu67, 0, 1) + __builtin_shufflevector(alu67, alu67, 2, 3);
    row4[2ll] = (alu68[0] + alu68[1]) / 2.828427f;
    f32x4 alu69 = __builtin_elementwise_fma(val16, val8, val17 * val9);
    f32x2 alu70 = __builtin_shufflevector(alu69, alu69, 0, 1) + __builtin_shufflevector(alu69, alu69, 2, 3);
    row4[3ll] = (alu70[0] + alu70[1]) / 2.828427f;
    f32x4 val18 = *(f32x4_m*)row4;
    f32x2 alu71 = max_f32x2(__builtin_shufflevector(val18, val18, 0, 1), __builtin_shufflevector(val18, val18,
        2, 3));
    float alu72 = max_f32(alu71[0], alu71[1]);
    f32x4 alu73 = val18 - (f32x4)(alu72);
    f32x4 alu74 = alu73 * (f32x4)(1.442695f);
    f32x4 alu75 = (i32x4)(alu74 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu74;
    f32x4 alu76 = (i32x4)((f32x4)(154.0f) < alu75) ? (f32x4)(154.0f) : alu75;
    f32x4 alu77 = alu76 + (f32x4)(12582912.0f);
    f32x4 alu78 = alu76 - (alu77 - (f32x4)(12582912.0f));
    f32x4 alu79 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu78, (f32x4)(0.0013399613f));
    f32x4 alu80 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu79, alu78, (f32x4)(0.009618006f)),
        alu78, (f32x4)(0.0555033f));
    f32x4 alu81 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu80, alu78, (f32x4)(0.2402265f)),
        alu78, (f32x4)(0.6931472f));
    i32x4 alu82 = (i32x4)(alu77) - alu0;
    i32x4 alu83 = alu82 >> (i32x4)(1);
    f32x4 alu84 = __builtin_elementwise_fma(alu78, alu81,
        (f32x4)(1.0f)) * (f32x4)((alu83 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu85 = __builtin_elementwise_fma(alu73, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu73,
        (f32x4)(1.442695f), -alu74));
    f32x4 alu86 = __builtin_elementwise_fma(alu85, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu87 = alu84 * (f32x4)((alu82 - alu83 + (i32x4)(127)) << (i32x4)(23)) * ((i32x4)(alu85 * alu85 < (f32x4)(1.0f)) ? alu86 : (f32x4)(1.0f));
    *(f32x4_m*)row7 = alu87;
    f32x4 val19 = *(f32x4_m*)row7;
    f32x2 alu88 = __builtin_shufflevector(val19, val19, 0, 1) + __builtin_shufflevector(val19, val19, 2, 3);
    float alu89 = alu88[0] + alu88[1];
    *(f32x4_m*)row10 = val19 / (f32x4)(alu89);
    f32x4 val20 = *(const f32x4_m*)(data1 + alu13);
    f32x4 val21 = *(const f32x4_m*)(data1 + alu14);
    f32x4 alu90 = __builtin_elementwise_fma(val20, val1, val21 * val3);
    f32x2 alu91 = __builtin_shufflevector(alu90, alu90, 0, 1) + __builtin_shufflevector(alu90, alu90, 2, 3);
    row5[0ll] = (alu91[0] + alu91[1]) / 2.828427f;
    f32x4 alu92 = __builtin_elementwise_fma(val20, val4, val21 * val5);
    f32x2 alu93 = __builtin_shufflevector(alu92, alu92, 0, 1) + __builtin_shufflevector(alu92, alu92, 2, 3);
    row5[1ll] = (alu93[0] + alu93[1]) / 2.828427f;
    f32x4 alu94 = __builtin_elementwise_fma(val20, val6, val21 * val7);
    f32x2 alu95 = __builtin_shufflevector(alu94, alu94, 0, 1) + __builtin_shufflevector(alu94, alu94, 2, 3);
    row5[2ll] = (alu95[0] + alu95[1]) / 2.828427f;
    f32x4 alu96 = __builtin_elementwise_fma(val20, val8, val21 * val9);
    f32x2 alu97 = __builtin_shufflevector(alu96, alu96, 0, 1) + __builtin_shufflevector(alu96, alu96, 2, 3);
    row5[3ll] = (alu97[0] + alu97[1]) / 2.828427f;
    f32x4 val22 = *(f32x4_m*)row5;
    f32x2 alu98 = max_f32x2(__builtin_shufflevector(val22, val22, 0, 1), __builtin_shufflevector(val22, val22,
        2, 3));
    float alu99 = max_f32(alu98[0], alu98[1]);
    f32x4 alu100 = val22 - (f32x4)(alu99);
    f32x4 alu101 = alu100 * (f32x4)(1.442695f);
    f32x4 alu102 = (i32x4)(alu101 < (f32x4)(-154.0f)) ? (f32x4)(-154.0f) : alu101;
    f32x4 alu103 = (i32x4)((f32x4)(154.0f) < alu102) ? (f32x4)(154.0f) : alu102;
    f32x4 alu104 = alu103 + (f32x4)(12582912.0f);
    f32x4 alu105 = alu103 - (alu104 - (f32x4)(12582912.0f));
    f32x4 alu106 = __builtin_elementwise_fma((f32x4)(0.00015475962f), alu105, (f32x4)(0.0013399613f));
    f32x4 alu107 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu106, alu105, (f32x4)(0.009618006f)),
        alu105, (f32x4)(0.0555033f));
    f32x4 alu108 = __builtin_elementwise_fma(__builtin_elementwise_fma(alu107, alu105, (f32x4)(0.2402265f)),
        alu105, (f32x4)(0.6931472f));
    i32x4 alu109 = (i32x4)(alu104) - alu0;
    i32x4 alu110 = alu109 >> (i32x4)(1);
    f32x4 alu111 = __builtin_elementwise_fma(alu105, alu108,
        (f32x4)(1.0f)) * (f32x4)((alu110 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu112 = alu111 * (f32x4)((alu109 - alu110 + (i32x4)(127)) << (i32x4)(23));
    f32x4 alu113 = __builtin_elementwise_fma(alu100, (f32x4)(1.925963e-8f), __builtin_elementwise_fma(alu100,
        (f32x4)(1.442695f), -alu101));
    f32x4 alu114 = __builtin_elementwise_fma(alu113, (f32x4)(0.6931472f), (f32x4)(1.0f));
    f32x4 alu115 = (i32x4)(alu113 * alu113 < (f32x4)(1.0f)) ? alu114 : (f32x4)(1.0f);
    *(f32x4_m*)row8 = alu112 * alu115;
    f32x4 val23 = *(f32x4_m*)row8;
    f32x2 alu116 = __builtin_shufflevector(val23, val23, 0, 1) + __builtin_shufflevector(val23, val23, 2, 3);
    float alu117 = alu116[0] + alu116[1];
    *(f32x4_m*)row11 = val23 / (f32x4)(alu117);
    float val24 = row0[3ll];
    f32x4 alu118 = (f32x4)(val24);
    f32x4 val25 = *(const f32x4_m*)(data3 + alu14);
    float val26 = row0[2ll];
    f32x4 alu119 = (f32x4)(val26);
    f32x4 val27 = *(const f32x4_m*)(data3 + alu10);
    float val28 = row0[1ll];
    f32x4 alu120 = (f32x4)(val28);
    f32x4 val29 = *(const f32x4_m*)(data3 + alu6);
    float val30 = row0[0ll];
    f32x4 alu121 = (f32x4)(val30);
    f32x4 val31 = *(const f32x4_m*)(data3 + alu1);
    f32x4 alu122 = __builtin_elementwise_fma(alu119, val27, __builtin_elementwise_fma(alu120, val29,
        alu121 * val31));
    float val32 = row9[3ll];
    f32x4 alu123 = (f32x4)(val32);
    float val33 = row9[2ll];
    f32x4 alu124 = (f32x4)(val33);
    float val34 = row9[1ll];
    f32x4 alu125 = (f32x4)(val34);
    float val35 = row9[0ll];
    f32x4 alu126 = (f32x4)(val35);
    f32x4 alu127 = __builtin_elementwise_fma(alu124, val27, __builtin_elementwise_fma(alu125, val29,
        alu126 * val31));
    float val36 = row10[3ll];
    f32x4 alu128 = (f32x4)(val36);
    float val37 = row10[2ll];
    f32x4 alu129 = (f32x4)(val37);
    float val38 = row10[1ll];
    f32x4 alu130 = (f32x4)(val38);
    float val39 = row10[0ll];
    f32x4 alu131 = (f32x4)(val39);
    f32x4 alu132 = __builtin_elementwise_fma(alu129, val27, __builtin_elementwise_fma(alu130, val29,
        alu131 * val31));
    float val40 = row11[3ll];
    f32x4 alu133 = (f32x4)(val40);
    float val41 = row11[2ll];
    f32x4 alu134 = (f32x4)(val41);
    float val42 = row11[1ll];
    f32x4 alu135 = (f32x4)(val42);
    float val43 = row11[0ll];
    f32x4 alu136 = (f32x4)(val43);
    f32x4 alu137 = __builtin_elementwise_fma(alu134, val27, __builtin_elementwise_fma(alu135, val29,
        alu136 * val31));
    f32x4 val44 = *(const f32x4_m*)(data3 + alu13);
    f32x4 val45 = *(const f32x4_m*)(data3 + alu9);
    f32x4 val46 = *(const f32x4_m*)(data3 + alu5);
    f32x4 val47 = *(const f32x4_m*)(data3 + alu2);
    f32x4 alu138 = __builtin_elementwise_fma(alu119, val45, __builtin_elementwise_fma(alu120, val46,
        alu121 * val47));
    f32x4 alu139 = __builtin_elementwise_fma(alu124, val45, __builtin_elementwise_fma(alu125, val46,
        alu126 * val47));
    f32x4 alu140 = __builtin_elementwise_fma(alu129, val45, __builtin_elementwise_fma(alu130, val46,
        alu131 * val47));
    f32x4 alu141 = __builtin_elementwise_fma(alu134, val45, __builtin_elementwise_fma(alu135, val46,
        alu136 * val47));
    *(f32x4_m*)(data0 + alu1) = __builtin_elementwise_fma(alu118, val25, alu122);
    *(f32x4_m*)(data0 + alu6) = __builtin_elementwise_fma(alu123, val25, alu127);
    *(f32x4_m*)(data0 + alu10) = __builtin_elementwise_fma(alu128, val25, alu132);
    *(f32x4_m*)(data0 + alu14) = __builtin_elementwise_fma(alu133, val25, alu137);
    *(f32x4_m*)(data0 + alu2) = __builtin_elementwise_fma(alu118, val44, alu138);
    *(f32x4_m*)(data0 + alu5) = __builtin_elementwise_fma(alu123, val44, alu139);
    *(f32x4_m*)(data0 + alu9) = __builtin_elementwise_fma(alu128, val44, alu140);
    *(f32x4_m*)(data0 + alu13) = __builtin_elementwise_fma(alu133, val44, alu141);
  }
}
