// Printed by scripts/remez.py, which says how. Lowest power first; exact in the format they are for.
#pragma once
#include <cstdint>

namespace svod::detail {

// log 2 as a sum; exponent times the first part is exact
inline constexpr double kLn2F32[] = {0x1.62e4000000000p-1, 0x1.7f7d1c0000000p-20};

// log 2 as a sum; exponent times the first part is exact
inline constexpr double kLn2F64[] = {0x1.62e42fefa4000p-1, -0x1.8432a1b0e2634p-43};

// log2 e as a sum
inline constexpr double kLog2eF32[] = {0x1.7154760000000p+0, 0x1.4ae0c00000000p-26};

// log2 e as a sum; the first part times 27 bits is exact
inline constexpr double kLog2eF64[] = {0x1.7154768000000p+0, -0x1.6a3e80f444178p-27};

// log2 e as a sum
inline constexpr double kLog2eF64Pair[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

// 2/3 as a sum
inline constexpr double kTwoThirds[] = {0x1.5555555555555p-1, 0x1.5555555555555p-55};

// pi/2 as a sum
inline constexpr double kHalfPiF32[] = {0x1.921fb60000000p+0, -0x1.777a5c0000000p-25, -0x1.ee59da0000000p-50};

// pi/2 as a sum
inline constexpr double kHalfPiF64[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// of x^2 in the argument of kErfF32
inline constexpr double kErfScaleF32 = 0x1.1500000000000p-3;

// 26 zero bits and the first bits of 2/pi
inline constexpr uint32_t kTwoOverPi32[] = {0x28,       0xbe60db93, 0x91054a7f, 0x9d5f47d,
                                            0x4d377036, 0xd8a5664f, 0x10e4107f, 0x9458eaf7};

// 55 zero bits and the first bits of 2/pi
inline constexpr uint64_t kTwoOverPi64[] = {0x145,
                                            0xf306dc9c882a53f8,
                                            0x4eafa3ea69bb81b6,
                                            0xc52b3278872083fc,
                                            0xa2c757bd778ac36e,
                                            0x48dc74849ba5c00c,
                                            0x925dd413a32439fc,
                                            0x3bd63962534e7dd1,
                                            0x46bea5d768909d3,
                                            0x38e04d68befc8273,
                                            0x23ac7306a673e939,
                                            0x8bf177bf250763f,
                                            0xf12fffbc0b301fde,
                                            0x5e2316b414da3eda,
                                            0x6cfd9e4f96136e9e,
                                            0x8c7ecd3cbfd45aea,
                                            0x4f758fd7cbe2f67a,
                                            0xe73ef14a525d4d7,
                                            0xf6bf623f1aba10ac,
                                            0x6608df8f6d757e1};

// e^r = 1 + r + r^2 p(r), |r| <= ln2/2, relative error 2^-28.1
inline constexpr double kExpF32[] = {0x1.fffffc0000000p-2, 0x1.55548c0000000p-3, 0x1.5558a80000000p-5,
                                     0x1.123d0e0000000p-7, 0x1.6a57800000000p-10};

// 2^r = 1 + r p(r), |r| <= 1/2, relative error 2^-26.3
inline constexpr double kExp2F32[] = {0x1.62e4300000000p-1, 0x1.ebfb940000000p-3,  0x1.c6af9e0000000p-5,
                                      0x1.3b68040000000p-7, 0x1.5ef4d60000000p-10, 0x1.17b3b60000000p-13};

// sin r = r + r^3 p(r^2), |r| <= pi/4, relative error 2^-32.5
inline constexpr double kSinF32[] = {-0x1.5555560000000p-3, 0x1.1111740000000p-7, -0x1.a059540000000p-13,
                                     0x1.7c2d6c0000000p-19};

// cos r = 1 - r^2/2 + r^4 p(r^2), |r| <= pi/4, relative error 2^-33.0
inline constexpr double kCosF32[] = {0x1.55554a0000000p-5, -0x1.6c0c280000000p-10, 0x1.99e8120000000p-16};

// tanh x = x + x^3 p(x^2), |x| <= 0.625, relative error 2^-32.4
inline constexpr double kTanhF32[] = {-0x1.5555540000000p-2, 0x1.11107a0000000p-3,  -0x1.b9f19a0000000p-5,
                                      0x1.63a7320000000p-6,  -0x1.0c6db60000000p-7, 0x1.1a71420000000p-9};

// e^r = 1 + r + r^2 p(r), |r| <= ln2/2, relative error 2^-57.9
inline constexpr double kExpF64[] = {
    0x1.000000000000ap-1,  0x1.5555555555500p-3,  0x1.55555555505f0p-5,  0x1.11111111259f5p-7,  0x1.6c16c184bcb3cp-10,
    0x1.a01a0138e4676p-13, 0x1.a01998754c7c2p-16, 0x1.71defe2e67e59p-19, 0x1.28aef20a7b6d4p-22, 0x1.adc76182f21c9p-26};

// 2^r = 1 + r p(r), |r| <= 1/2, relative error 2^-57.2
inline constexpr double kExp2F64[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c574p-3,  0x1.c6b08d704a1fap-5,
                                      0x1.3b2ab6fbaacc9p-7,  0x1.5d87fe78694b5p-10, 0x1.430912dd249a9p-13,
                                      0x1.ffcbfd88cbbf5p-17, 0x1.62c0906cb7fa1p-20, 0x1.b522a01f7c046p-24,
                                      0x1.e33ba96cabf95p-28, 0x1.ed5aa3acdd4c8p-32, 0x1.f4ce90eb070c0p-35};

// sin r = r + r^3 p(r^2), |r| <= pi/4, relative error 2^-63.2
inline constexpr double kSinF64[] = {-0x1.5555555555555p-3, 0x1.1111111111069p-7,   -0x1.a01a019ffe524p-13,
                                     0x1.71de3a33a3807p-19, -0x1.ae642c4a813fep-26, 0x1.6109b558c45e1p-33,
                                     -0x1.9ff7900391acfp-41};

// cos r = 1 - r^2/2 + r^4 p(r^2), |r| <= pi/4, relative error 2^-69.0
inline constexpr double kCosF64[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16b30p-10, 0x1.a01a019ffcb8dp-16,
                                     -0x1.27e4fb5a22b50p-22, 0x1.1eed6f84f9291p-29,  -0x1.93745a4fea5e4p-37,
                                     0x1.9db29a20bc04bp-45};

// tanh x = x + x^3 p(x^2), |x| <= 0.625, relative error 2^-64.8
inline constexpr double kTanhF64[] = {-0x1.5555555555555p-2,  0x1.1111111111092p-3,   -0x1.ba1ba1ba13597p-5,
                                      0x1.664f4880931a7p-6,   -0x1.226e35079d893p-7,  0x1.d6d3bf78f1f6dp-9,
                                      -0x1.7da2354f45067p-10, 0x1.3549bfda3d8aep-11,  -0x1.f485573e92e31p-13,
                                      0x1.908f58253ba47p-14,  -0x1.2ffc9b4971756p-15, 0x1.800f6f1f6b216p-17,
                                      -0x1.1e515c84e67dcp-19};

// log(1 + f) = f - f^2/2 + f^3 p(f), sqrt(1/2) <= 1 + f <= sqrt(2), relative error 2^-27.3
inline constexpr double kLogF32[] = {0x1.5555540000000p-2,  -0x1.0002280000000p-2, 0x1.99a0380000000p-3,
                                     -0x1.5472140000000p-3, 0x1.22d5640000000p-3,  -0x1.0d826c0000000p-3,
                                     0x1.057e100000000p-3,  -0x1.391f880000000p-4};

// log2(1 + f) = f log2(e) + f^2 p(f), sqrt(1/2) <= 1 + f <= sqrt(2), relative error 2^-25.7
inline constexpr double kLog2F32[] = {-0x1.7154700000000p-1, 0x1.ec70a20000000p-2,  -0x1.715b1e0000000p-2,
                                      0x1.277ba00000000p-2,  -0x1.ea93aa0000000p-3, 0x1.a2a3f80000000p-3,
                                      -0x1.8802da0000000p-3, 0x1.84358a0000000p-3,  -0x1.d667ec0000000p-4};

// erf x = x p(0.13525390625 x^2 - 1), |x| <= 3.845, relative error 2^-23.4
inline constexpr double kErfF32[] = {
    0x1.788cc80000000p-2,  -0x1.77d6d00000000p-3,  0x1.1740c20000000p-3,  -0x1.c476a20000000p-4,
    0x1.73e4f20000000p-4,  -0x1.2b60f20000000p-4,  0x1.cebd9c0000000p-5,  -0x1.507ce60000000p-5,
    0x1.c355340000000p-6,  -0x1.25981e0000000p-6,  0x1.888e220000000p-7,  -0x1.9f1f120000000p-8,
    0x1.dde5720000000p-10, -0x1.34a4320000000p-10, 0x1.8aa8260000000p-10, -0x1.33b52e0000000p-11};

// erf x = x + x p(x^2), |x| <= 0.9375, relative error 2^-56.3
inline constexpr double kErfF64[] = {0x1.06eba8214db69p-3,   -0x1.812746b037a2ep-2,  0x1.ce2f21a0466c2p-4,
                                     -0x1.b82ce313ba6bap-6,  0x1.565bcd41c668dp-8,   -0x1.c02dbe32c7349p-11,
                                     0x1.f9a46feb220d9p-14,  -0x1.f4edaa2f5e356p-17, 0x1.bb69eeff6764dp-20,
                                     -0x1.6d9c06dcedba8p-23, 0x1.523dcb1be8561p-26,  -0x1.c45ff90bd7f50p-29,
                                     0x1.fda8cec0f7b5ap-32};

// log2(1 + f) = f p(f), sqrt(1/2) <= 1 + f <= sqrt(2), relative error 2^-38.5
inline constexpr double kPowLog2F32[] = {
    0x1.71547652b58f8p+0,  -0x1.71547651b7048p-1, 0x1.ec709de33c403p-2,  -0x1.715478883ab09p-2, 0x1.2776b6cd0d481p-2,
    -0x1.ec6f2e024034dp-3, 0x1.a61b7dcb08524p-3,  -0x1.7188d2f77b790p-3, 0x1.481fad1e82dbbp-3,  -0x1.23d650fd584abp-3,
    0x1.0acdee0ed1f01p-3,  -0x1.13b88e30d59f6p-3, 0x1.0f628ca33d366p-3,  -0x1.1da6ec3fb75d8p-4};

// 2^r = 1 + r p(r), |r| <= 1/2, relative error 2^-34.3
inline constexpr double kPowExp2F32[] = {0x1.62e42ff0e4105p-1, 0x1.ebfbe0784b3bcp-3,  0x1.c6b08abc67314p-5,
                                         0x1.3b29f2d4fd15ep-7, 0x1.5d8a8881c1098p-10, 0x1.445d31ffc541bp-13,
                                         0x1.fde51505926fep-17};

// log((1 + s)/(1 - s)) = 2s + 2/3 s^3 + s^5 p(s^2), |s| <= 0.1716, relative error 2^-72.3
inline constexpr double kPowLogF64[] = {0x1.9999999999995p-2, 0x1.2492492493193p-2, 0x1.c71c71c55709ep-3,
                                        0x1.745d18460d225p-3, 0x1.3b135d7b09313p-3, 0x1.11217dd28475cp-3,
                                        0x1.de13db6df41a4p-4, 0x1.ec16c9809a651p-4};

// erf x = 1 - e^p(x), 0.9375 <= x <= 6, relative error of erf 2^-58.6
inline constexpr double kErfcF64[] = {
    -0x1.9090f16ac6532p-24, -0x1.20dd648da22d5p+0,  -0x1.45f3a67f6a0c9p-1,  -0x1.a4e62e1bd8681p-4,
    0x1.38f1dadf0b298p-6,   0x1.03adb1caa56d4p-12,  -0x1.c622b388c612bp-10, 0x1.3f7796a1d0811p-11,
    -0x1.80bb7fbfaa92dp-16, -0x1.596c0b9a6d625p-14, 0x1.a5c4c5d91b147p-15,  -0x1.33acfc4fddc03p-16,
    0x1.441709ad8c753p-18,  -0x1.01423208c156ap-20, 0x1.33d496a9e205ep-23,  -0x1.0e995b824e794p-26,
    0x1.4aab3dc7e7e59p-30,  -0x1.f654d5b85a985p-35, 0x1.654b6eae584d3p-40};

// log((1 + s)/(1 - s)) = 2s + s^3 p(s^2), |s| <= 0.1716, relative error 2^-58.5
inline constexpr double kLogF64[] = {0x1.5555555555593p-1, 0x1.999999997f9d2p-2, 0x1.249249422e454p-2,
                                     0x1.c71c51d31d0eep-3, 0x1.74664aee53de9p-3, 0x1.39a06e7a74e91p-3,
                                     0x1.2f134bd1aef82p-3};

}  // namespace svod::detail
