// Natural logarithms: the compiled twin of soft/logarithms.py.

#include "../arrays.hpp"

namespace {

using namespace catalpa;

constexpr std::size_t AT_ONCE = 64;  // numbers that stay in the first cache

// ln m + whole ln 2 for a mantissa between the roots of 1/2 and 2, in the reference's operations and their order.
inline double from_parts(double mantissa, double whole) {
    constexpr int terms = 10;
    const double ratio = (mantissa - 1.0) / (mantissa + 1.0), square = ratio * ratio;
    double series = 1.0 / (2 * terms + 1);
#pragma GCC unroll 10
    for (int odd = 2 * terms - 1; odd > 0; odd -= 2) series = 1.0 / odd + square * series;
    return whole * 0.6931471805599453 + 2.0 * ratio * series;
}

// Of any number, as NumPy takes it apart.
inline double from_number(double number) {
    int exponent = 0;
    const double mantissa = std::frexp(number, &exponent);
    const bool low = mantissa < 0.7071067811865476;
    return from_parts(low ? mantissa + mantissa : mantissa, exponent - low);
}

// Whether all are positive normal numbers, whose exponent and mantissa can be read from their bits.
inline bool plain(const double* from, std::size_t size) {
    bool all = true;
    for (std::size_t i = 0; i < size; ++i)
        all &= (from[i] >= std::numeric_limits<double>::min()) & (from[i] <= std::numeric_limits<double>::max());
    return all;
}

}  // namespace

#define CATALPA_KERNELS "between/logarithm_rows.hpp"
#include "../each_level.hpp"

namespace {

void logarithm(const Vector<const double>& from, const Vector<double>& to, const std::string& level) {
    require(to.size() == from.size(), "There must be as many logarithms as numbers.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    for (std::size_t at = 0; at < from.size(); at += AT_ONCE) {
        const std::size_t some = std::min(AT_ONCE, from.size() - at);
        if (plain(from.data() + at, some)) {
            CATALPA_AT_LEVEL(level, logarithms, from.data() + at, to.data() + at, some);
            continue;
        }
        for (std::size_t i = at; i < at + some; ++i) to.data()[i] = from_number(from.data()[i]);
    }
}

}  // namespace

void catalpa::bind_logarithm(nb::module_& module) { module.def("logarithm", &logarithm); }
