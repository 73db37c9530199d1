// Compile the kernels of CATALPA_KERNELS once per instruction set, each in a namespace of its own: a template cannot
// take its target from its caller, hence the inclusion. Every inclusion has
//   CATALPA_LEVEL   name of the namespace,
//   CATALPA_TARGET  attribute of every function in it,
//   CATALPA_WIDE    whether one register holds eight 32-bit numbers.

#if CATALPA_HAS_AVX2
#include <immintrin.h>
#endif

namespace {

#define CATALPA_LEVEL baseline
#define CATALPA_TARGET
#define CATALPA_WIDE 0
#include "lanes.hpp"
#include CATALPA_KERNELS
#undef CATALPA_LEVEL
#undef CATALPA_TARGET
#undef CATALPA_WIDE

#if CATALPA_HAS_AVX2
#define CATALPA_LEVEL avx2
#define CATALPA_TARGET __attribute__((target("avx2")))
#define CATALPA_WIDE 1
#include "lanes.hpp"
#include CATALPA_KERNELS
#undef CATALPA_LEVEL
#undef CATALPA_TARGET
#undef CATALPA_WIDE
#endif

// Call FUNCTION of the chosen level.
#if CATALPA_HAS_AVX2
#define CATALPA_AT_LEVEL(level, FUNCTION, ...) \
    ((level) == "AVX2" ? avx2::FUNCTION(__VA_ARGS__) : baseline::FUNCTION(__VA_ARGS__))
#else
#define CATALPA_AT_LEVEL(level, FUNCTION, ...) (static_cast<void>(level), baseline::FUNCTION(__VA_ARGS__))
#endif

}  // namespace
