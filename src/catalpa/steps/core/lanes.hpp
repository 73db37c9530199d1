// Eight 32-bit numbers at a time, for the kernels that each_level.hpp compiles once per instruction set.

namespace CATALPA_LEVEL {

template <class Number>
CATALPA_INLINE Number least(Number a, Number b) { return a < b ? a : b; }
template <class Number>
CATALPA_INLINE Number most(Number a, Number b) { return a < b ? b : a; }

// Numbers that take two registers.
template <class Half>
struct Pair {
    Half low, high;
};
template <class Half>
CATALPA_INLINE Pair<Half> operator+(Pair<Half> a, Pair<Half> b) { return {a.low + b.low, a.high + b.high}; }
template <class Half>
CATALPA_INLINE Pair<Half> operator-(Pair<Half> a, Pair<Half> b) { return {a.low - b.low, a.high - b.high}; }
template <class Half>
CATALPA_INLINE Pair<Half> operator*(Pair<Half> a, Pair<Half> b) { return {a.low * b.low, a.high * b.high}; }
template <class Half>
CATALPA_INLINE Pair<Half> operator/(Pair<Half> a, Pair<Half> b) { return {a.low / b.low, a.high / b.high}; }
template <class Half>
CATALPA_INLINE Pair<Half> operator&(Pair<Half> a, Pair<Half> b) { return {a.low & b.low, a.high & b.high}; }
template <class Half>
CATALPA_INLINE Pair<Half> operator|(Pair<Half> a, Pair<Half> b) { return {a.low | b.low, a.high | b.high}; }
template <class Half>
CATALPA_INLINE Pair<Half> operator<<(Pair<Half> a, int by) { return {a.low << by, a.high << by}; }
template <class Half>
CATALPA_INLINE Pair<Half> operator>>(Pair<Half> a, int by) { return {a.low >> by, a.high >> by}; }
template <class Half>
CATALPA_INLINE Pair<Half> least(Pair<Half> a, Pair<Half> b) { return {least(a.low, b.low), least(a.high, b.high)}; }
template <class Half>
CATALPA_INLINE Pair<Half> most(Pair<Half> a, Pair<Half> b) { return {most(a.low, b.low), most(a.high, b.high)}; }

#if CATALPA_PLAIN || !CATALPA_WIDE

// Numbers of a kind that registers are not asked for by name: compilers find them in plain loops. Registers add modulo
// 2 ** 32; numbers with a sign would not be sure to.
template <class Number, int n = 8>
struct Lanes {
    Number at[n];
};
inline std::uint32_t modular(std::int32_t x) { return static_cast<std::uint32_t>(x); }
template <class Number>
inline Number modular(Number x) { return x; }

template <class Number, int n>
inline Lanes<Number, n> operator+(Lanes<Number, n> a, Lanes<Number, n> b) {
    for (int i = 0; i < n; ++i) a.at[i] = static_cast<Number>(modular(a.at[i]) + modular(b.at[i]));
    return a;
}
template <class Number, int n>
inline Lanes<Number, n> operator-(Lanes<Number, n> a, Lanes<Number, n> b) {
    for (int i = 0; i < n; ++i) a.at[i] = static_cast<Number>(modular(a.at[i]) - modular(b.at[i]));
    return a;
}
template <class Number, int n>
inline Lanes<Number, n> operator*(Lanes<Number, n> a, Lanes<Number, n> b) {
    for (int i = 0; i < n; ++i) a.at[i] = static_cast<Number>(modular(a.at[i]) * modular(b.at[i]));
    return a;
}
template <class Number, int n>
inline Lanes<Number, n> least(Lanes<Number, n> a, Lanes<Number, n> b) {
    for (int i = 0; i < n; ++i) a.at[i] = least(a.at[i], b.at[i]);
    return a;
}
template <class Number>
inline Lanes<Number> operator>>(Lanes<Number> a, int by) {
    for (int i = 0; i < 8; ++i) a.at[i] = a.at[i] >> by;
    return a;
}

#endif

template <class Vector, class Number>
CATALPA_INLINE Vector loaded(const Number* from) {
    Vector lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

#if CATALPA_PLAIN

#include "portable/plain_lanes.hpp"

#elif CATALPA_WIDE

typedef std::int32_t Eight __attribute__((vector_size(32)));
typedef float Singles __attribute__((vector_size(32)));
typedef std::uint64_t Longs __attribute__((vector_size(32)));

// Each pair of functions lays the lanes of two vectors side by side; after three such steps with a
// minimum in between, lane r holds the minimum over all lanes of row r.
CATALPA_TARGET inline Eight front1(Eight a, Eight b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13); }
CATALPA_TARGET inline Eight back1(Eight a, Eight b) { return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15); }
CATALPA_TARGET inline Eight front2(Eight a, Eight b) { return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13); }
CATALPA_TARGET inline Eight back2(Eight a, Eight b) { return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15); }
CATALPA_TARGET inline Eight front3(Eight a, Eight b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11); }
CATALPA_TARGET inline Eight back3(Eight a, Eight b) { return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15); }

CATALPA_INLINE Eight every(std::int32_t x) { return Eight{} + x; }
CATALPA_INLINE Singles every(float x) { return Singles{} + x; }
CATALPA_INLINE Eight bits(Singles a) { return reinterpret_cast<Eight>(a); }
CATALPA_INLINE Singles singles(Eight a) { return reinterpret_cast<Singles>(a); }
CATALPA_INLINE Singles converted(Eight a) { return __builtin_convertvector(a, Singles); }
CATALPA_INLINE Eight rounded(Singles a) { return reinterpret_cast<Eight>(_mm256_cvtps_epi32(reinterpret_cast<__m256>(a))); }
CATALPA_INLINE Eight magnitude(Eight a) { return reinterpret_cast<Eight>(_mm256_abs_epi32(reinterpret_cast<__m256i>(a))); }
CATALPA_INLINE Eight equal(Eight a, Eight b) { return a == b; }
CATALPA_INLINE Eight choose(Eight mask, Eight a, Eight b) {
    return reinterpret_cast<Eight>(_mm256_blendv_epi8(reinterpret_cast<__m256i>(b), reinterpret_cast<__m256i>(a),
                                                      reinterpret_cast<__m256i>(mask)));
}
// One bit per lane of a mask.
CATALPA_INLINE unsigned lanes_of(Eight mask) {
    return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
}
CATALPA_INLINE Eight shifted_up(Eight a, int by) {
    return reinterpret_cast<Eight>(_mm256_sll_epi32(reinterpret_cast<__m256i>(a), _mm_cvtsi32_si128(by)));
}

// Eight codes as 32-bit numbers.
CATALPA_INLINE Eight widened(const std::uint8_t* from) {
    return reinterpret_cast<Eight>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}
CATALPA_INLINE Eight widened(const std::uint16_t* from) {
    return reinterpret_cast<Eight>(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
CATALPA_INLINE Eight widened(const std::uint32_t* from) {
    return reinterpret_cast<Eight>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

// Sums of products without sign: of the even lanes, and of the odd ones.
using Products = Pair<Longs>;
CATALPA_INLINE Longs times_even(__m256i a, __m256i b) { return reinterpret_cast<Longs>(_mm256_mul_epu32(a, b)); }
CATALPA_INLINE Products with_product(Products sum, Eight a, Eight b) {
    const __m256i x = reinterpret_cast<__m256i>(a), y = reinterpret_cast<__m256i>(b);
    return {sum.low + times_even(x, y), sum.high + times_even(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(y, 32))};
}
CATALPA_INLINE void store(std::int64_t* to, Products sum) {
    const __m256i even = reinterpret_cast<__m256i>(sum.low), odd = reinterpret_cast<__m256i>(sum.high);
    const __m256i low = _mm256_unpacklo_epi64(even, odd), high = _mm256_unpackhi_epi64(even, odd);
    const __m256i front = _mm256_permute2x128_si256(low, high, 0x20), back = _mm256_permute2x128_si256(low, high, 0x31);
    std::memcpy(to, &front, sizeof front);
    std::memcpy(to + 4, &back, sizeof back);
}

// Of two pairs of 16-bit numbers in every lane, the sum of their products.
CATALPA_INLINE Eight paired_products(Eight a, Eight b) {
    return reinterpret_cast<Eight>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

// Thirty-two bytes.
typedef std::uint8_t Bytes __attribute__((vector_size(32)));
// The smallest of every four of 32 numbers with their indices below them, sum << 8 | index; sums take seven bits.
CATALPA_INLINE __m128i smallest_of(Bytes sums, Bytes index) {
    const __m256i high = reinterpret_cast<__m256i>(sums), low = reinterpret_cast<__m256i>(index);
    const __m256i least = _mm256_min_epi16(_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high));
    return _mm_min_epi16(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
}

// Four numbers of double precision.
typedef double FourDoubles __attribute__((vector_size(32)));
CATALPA_INLINE FourDoubles least(FourDoubles a, FourDoubles b) { return _mm256_min_pd(a, b); }
CATALPA_INLINE FourDoubles load_four(const double* from) { return _mm256_loadu_pd(from); }
CATALPA_INLINE FourDoubles magnitude(FourDoubles a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
CATALPA_INLINE FourDoubles zero_unless(FourDoubles number, FourDoubles a) {  // where the first is no number
    return _mm256_and_pd(a, _mm256_cmp_pd(number, number, _CMP_ORD_Q));
}
CATALPA_INLINE FourDoubles sum_of_columns(FourDoubles begin, const FourDoubles rows[4]) {  // one after the other
    const FourDoubles even01 = _mm256_unpacklo_pd(rows[0], rows[1]), odd01 = _mm256_unpackhi_pd(rows[0], rows[1]);
    const FourDoubles even23 = _mm256_unpacklo_pd(rows[2], rows[3]), odd23 = _mm256_unpackhi_pd(rows[2], rows[3]);
    begin = begin + _mm256_permute2f128_pd(even01, even23, 0x20);
    begin = begin + _mm256_permute2f128_pd(odd01, odd23, 0x20);
    begin = begin + _mm256_permute2f128_pd(even01, even23, 0x31);
    return begin + _mm256_permute2f128_pd(odd01, odd23, 0x31);
}
// Their products with `by`, none above `limit` before, as whole numbers.
CATALPA_INLINE void store_rounded(std::int64_t* to, FourDoubles a, double limit, double by) {
    const FourDoubles whole = least(_mm256_set1_pd(limit), a) * _mm256_set1_pd(by);
    double rounded[4];
    _mm256_storeu_pd(rounded, _mm256_round_pd(whole, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    for (int i = 0; i < 4; ++i) to[i] = static_cast<std::int64_t>(rounded[i]);
}

#else

typedef std::int32_t Four __attribute__((vector_size(16)));
typedef float FourSingles __attribute__((vector_size(16)));
typedef std::uint8_t SixteenBytes __attribute__((vector_size(16)));
typedef std::int16_t EightShorts __attribute__((vector_size(16)));
typedef std::uint16_t EightWords __attribute__((vector_size(16)));
typedef std::uint64_t Longs __attribute__((vector_size(16)));
using Eight = Pair<Four>;
using Singles = Pair<FourSingles>;
using Bytes = Pair<SixteenBytes>;

inline Four front1(Four a, Four b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Four back1(Four a, Four b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
inline Four front2(Four a, Four b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5); }
inline Four back2(Four a, Four b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7); }

inline Eight front1(Eight a, Eight b) { return {front1(a.low, b.low), front1(a.high, b.high)}; }
inline Eight back1(Eight a, Eight b) { return {back1(a.low, b.low), back1(a.high, b.high)}; }
inline Eight front2(Eight a, Eight b) { return {front2(a.low, b.low), front2(a.high, b.high)}; }
inline Eight back2(Eight a, Eight b) { return {back2(a.low, b.low), back2(a.high, b.high)}; }
inline Eight front3(Eight a, Eight b) { return {a.low, b.low}; }
inline Eight back3(Eight a, Eight b) { return {a.high, b.high}; }

inline Eight every(std::int32_t x) { return {Four{} + x, Four{} + x}; }
inline Singles every(float x) { return {FourSingles{} + x, FourSingles{} + x}; }
inline Eight bits(Singles a) { return {reinterpret_cast<Four>(a.low), reinterpret_cast<Four>(a.high)}; }
inline Singles singles(Eight a) { return {reinterpret_cast<FourSingles>(a.low), reinterpret_cast<FourSingles>(a.high)}; }
inline Singles converted(Eight a) {
    return {__builtin_convertvector(a.low, FourSingles), __builtin_convertvector(a.high, FourSingles)};
}
inline Four rounded(FourSingles a) {
#if defined(__SSE2__)
    return reinterpret_cast<Four>(_mm_cvtps_epi32(reinterpret_cast<__m128>(a)));
#else
    Four out;
    for (int i = 0; i < 4; ++i) out[i] = static_cast<std::int32_t>(__builtin_rintf(a[i]));
    return out;
#endif
}
inline Eight rounded(Singles a) { return {rounded(a.low), rounded(a.high)}; }
inline Four magnitude(Four a) { return a < 0 ? -a : a; }
inline Eight magnitude(Eight a) { return {magnitude(a.low), magnitude(a.high)}; }
inline Eight equal(Eight a, Eight b) { return {a.low == b.low, a.high == b.high}; }
inline Four choose(Four mask, Four a, Four b) { return (mask & a) | (~mask & b); }
inline Eight choose(Eight mask, Eight a, Eight b) {
    return {choose(mask.low, a.low, b.low), choose(mask.high, a.high, b.high)};
}
inline unsigned lanes_of(Four mask) {
#if defined(__SSE2__)
    return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
#else
    unsigned out = 0;
    for (int i = 0; i < 4; ++i) out |= (mask[i] != 0 ? 1u : 0u) << i;
    return out;
#endif
}
inline unsigned lanes_of(Eight mask) { return lanes_of(mask.low) | lanes_of(mask.high) << 4; }
inline std::uint32_t lane(Eight a, int i) { return static_cast<std::uint32_t>(i < 4 ? a.low[i] : a.high[i - 4]); }

// Bytes in the low and in the high half of 16 bits, each with its index below it; either order of bytes in memory will do.
inline EightShorts smallest_of(SixteenBytes sums, SixteenBytes index) {
    const auto high = reinterpret_cast<EightWords>(sums), low = reinterpret_cast<EightWords>(index);
    const EightWords of_low = high << 8 | (low & 0xFF), of_high = (high & 0xFF00) | low >> 8;
    return least(reinterpret_cast<EightShorts>(of_low), reinterpret_cast<EightShorts>(of_high));
}
inline EightShorts smallest_of(Bytes sums, Bytes index) {
    return least(smallest_of(sums.low, index.low), smallest_of(sums.high, index.high));
}

#endif

#if CATALPA_PLAIN || !CATALPA_WIDE

// What is done lane by lane on either path.
#if !CATALPA_PLAIN && defined(__SSE2__)
inline Four paired_products(Four a, Four b) {
    return reinterpret_cast<Four>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}
inline Eight paired_products(Eight a, Eight b) { return {paired_products(a.low, b.low), paired_products(a.high, b.high)}; }
#else
inline Eight paired_products(Eight a, Eight b) {
    std::uint32_t lanes[8];
    for (int i = 0; i < 8; ++i) {
        const std::uint32_t x = lane(a, i), y = lane(b, i);
        lanes[i] = (x & 0xFFFF) * (y & 0xFFFF) + (x >> 16) * (y >> 16);  // none is below 0
    }
    return loaded<Eight>(lanes);
}
#endif
inline Eight shifted_up(Eight a, int by) { return a << by; }
template <class Code>
inline Eight widened(const Code* from) {
    std::uint32_t lanes[8];
    for (int i = 0; i < 8; ++i) lanes[i] = from[i];
    return loaded<Eight>(lanes);
}

using Products = Lanes<std::uint64_t>;
inline Products with_product(Products sum, Eight a, Eight b) {
    for (int i = 0; i < 8; ++i) sum.at[i] += std::uint64_t{lane(a, i)} * lane(b, i);
    return sum;
}
inline void store(std::int64_t* to, Products sum) { std::memcpy(to, &sum, sizeof sum); }

#endif


#if !CATALPA_PLAIN

// Eight 16-bit numbers, and the smallest of each of eight times eight.
typedef std::int16_t Shorts __attribute__((vector_size(16)));
CATALPA_INLINE Shorts shorts(Shorts a) { return a; }
#if CATALPA_WIDE
CATALPA_INLINE Shorts shorts(__m128i a) { return reinterpret_cast<Shorts>(a); }
#endif
CATALPA_INLINE Shorts smallest_of_each(const Shorts rows[8]) {
    Shorts two[4], four[2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
        two[i] = least(__builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 0, 8, 1, 9, 2, 10, 3, 11),
                       __builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 4, 12, 5, 13, 6, 14, 7, 15));
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i)
        four[i] = least(__builtin_shufflevector(two[2 * i], two[2 * i + 1], 0, 1, 8, 9, 2, 3, 10, 11),
                        __builtin_shufflevector(two[2 * i], two[2 * i + 1], 4, 5, 12, 13, 6, 7, 14, 15));
    return least(__builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11),
                 __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15));
}

#endif

CATALPA_INLINE Eight load(const std::int32_t* from) { return loaded<Eight>(from); }
CATALPA_INLINE Singles load(const float* from) { return loaded<Singles>(from); }
CATALPA_INLINE Bytes load(const std::uint8_t* from) { return loaded<Bytes>(from); }
CATALPA_INLINE Shorts load(const std::int16_t* from) { return loaded<Shorts>(from); }
CATALPA_INLINE void store(std::int32_t* to, Eight lanes) { std::memcpy(to, &lanes, sizeof lanes); }
// Add as many numbers as fill whole registers to those at `to`.
CATALPA_INLINE void add_longs(const std::uint64_t* from, std::size_t lanes, std::uint64_t* to) {
    for (std::size_t j = 0; j < lanes; j += sizeof(Longs) / sizeof *to) {
        const Longs sum = loaded<Longs>(to + j) + loaded<Longs>(from + j);
        std::memcpy(to + j, &sum, sizeof sum);
    }
}
CATALPA_INLINE void store(std::int16_t* to, Shorts lanes) { std::memcpy(to, &lanes, sizeof lanes); }

// Call `act` with every row and vector, unrolled, so that what it fills can stay in registers.
template <int rows, int vectors, class Act>
CATALPA_INLINE void for_each_vector(Act act) {
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) act(r, v);
}

}  // namespace CATALPA_LEVEL
