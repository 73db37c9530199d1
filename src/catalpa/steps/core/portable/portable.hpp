// What compilers differ in, so that the rest of the core is plain C++17.
//
// GCC and Clang have 128-bit integers, vector types and a way to compile a function for another processor. Where a
// compiler lacks them (MSVC), or with -DCATALPA_PLAIN=1, the same is done by plain_int128.hpp and plain_lanes.hpp, to
// the same bits. A new kernel stays portable if it
//   - does its arithmetic on lanes by the functions of lanes.hpp only (a new one needs its twin in plain_lanes.hpp),
//   - takes Int128, trailing_zeros and CATALPA_INLINE from here, and no __builtin_ or __attribute__ of its own,
//   - has no array of a length known only at run time, and no shift of a number below zero to the left.
// `make compilers` runs the tests of the core with every path.

#pragma once

#include <cstdint>

#if !defined(CATALPA_PLAIN)
#if defined(__GNUC__) && defined(__SIZEOF_INT128__)
#define CATALPA_PLAIN 0
#else
#define CATALPA_PLAIN 1
#endif
#endif

#if !CATALPA_PLAIN && defined(__x86_64__)
#define CATALPA_HAS_AVX2 1
#else
#define CATALPA_HAS_AVX2 0
#endif

#if CATALPA_PLAIN
#define CATALPA_INLINED
#define CATALPA_INLINE inline
#include "plain_int128.hpp"
#else
#define CATALPA_INLINED CATALPA_TARGET __attribute__((always_inline))  // lambdas, whose words stand behind their arguments
#define CATALPA_INLINE CATALPA_INLINED inline
namespace catalpa {
using Int128 = __int128;
}
#endif

#if defined(_MSC_VER)
#pragma warning(disable : 4068)  // it does not know "GCC unroll", and unrolls as it likes
#endif

namespace catalpa {

// How many zeros a number ends with; it has a one.
inline int trailing_zeros(std::uint64_t bits) {
#if CATALPA_PLAIN
    int zeros = 0;
    while ((bits >> zeros & 1) == 0) ++zeros;
    return zeros;
#else
    return __builtin_ctzll(bits);
#endif
}

}  // namespace catalpa
