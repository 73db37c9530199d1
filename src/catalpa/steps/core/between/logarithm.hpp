// A logarithm from the four basic operations, in the reference's order: soft/scores.py says why.

#pragma once

#include "../arrays.hpp"

namespace {

// ln m + whole ln 2 for a mantissa between the roots of 1/2 and 2.
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

// The nearest whole number, the even one of two, of numbers below 2 ** 51.
inline double nearest_whole(double number) { return (number + 0x1.8p52) - 0x1.8p52; }

// Whether all are positive normal numbers, whose exponent and mantissa can be read from their bits.
inline bool plain(const double* from, std::size_t size) {
    bool all = true;
    for (std::size_t i = 0; i < size; ++i)
        all &= (from[i] >= std::numeric_limits<double>::min()) & (from[i] <= std::numeric_limits<double>::max());
    return all;
}

}  // namespace
