// Arrays that come from Python, how they are checked, and what every part of the core does with them.
//
// Each function that Python can call checks all it is given, so that no table, model file or memory of an earlier
// pass, however wrong, makes the core read or write outside an array.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "portable/portable.hpp"

namespace catalpa {

namespace nb = nanobind;

constexpr int TICK_BITS = 24;    // numbers are counted in ticks of 2 ** -24 ...
constexpr int SQUARE_BITS = 26;  // ... and their squares in 2 ** -26
constexpr double TICK = 1.0 / (1 << TICK_BITS);
constexpr std::uint32_t ABSENT = std::numeric_limits<std::uint32_t>::max();  // the place of a cell left out

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ints = Vector<const std::int64_t>;
using Numbers = Matrix<const double>;
using Cells = Matrix<std::int64_t>;
using AnyVector = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyCodes = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyLabels = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// nanobind turns this exception into Python's ValueError.
inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class Array>
bool has_shape(const Array& array, std::size_t rows, std::size_t columns) {
    return array.shape(0) == rows && array.shape(1) == columns;
}

inline bool is_integer(nb::dlpack::dtype type, nb::dlpack::dtype_code code) {
    return type.code == static_cast<std::uint8_t>(code) && type.lanes == 1 &&
           (type.bits == 8 || type.bits == 16 || type.bits == 32);
}

inline bool is_unsigned(nb::dlpack::dtype type) { return is_integer(type, nb::dlpack::dtype_code::UInt); }

inline void check_codes(const AnyCodes& codes) {
    require(is_unsigned(codes.dtype()), "Codes are unsigned integers of 8, 16 or 32 bits.");
}

inline void check_numbers(const Numbers& numbers, std::size_t rows, std::size_t columns) {
    require(has_shape(numbers, rows, columns), "numbers must be rows by numeric columns.");
}

inline void check_weights(const Ints& weights, std::size_t rows) {
    require(weights.size() == 0 || weights.size() == rows, "weights must have one entry per row.");
}

// Whether columns lie one behind the other: the first place of each, and the end, which is given back.
inline std::size_t check_columns(const Ints& starts, std::size_t columns) {
    require(starts.size() == columns + 1, "starts must have one entry per column, and the end.");
    require(starts.data()[0] == 0, "starts must lead from 0 to the number of places.");
    for (std::size_t column = 0; column < columns; ++column)
        require(starts.data()[column] <= starts.data()[column + 1], "starts must not fall.");
    return static_cast<std::size_t>(starts.data()[columns]);
}

inline void check_columns(const Ints& starts, std::size_t columns, std::size_t places) {
    require(check_columns(starts, columns) == places, "starts must lead from 0 to the number of places.");
}

// Wrapping arithmetic, as NumPy has it; plain overflow would be undefined.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// A sum as two halves of 128 bits.
inline nb::tuple halves(Int128 sum) {
    return nb::make_tuple(static_cast<std::int64_t>(sum >> 64), static_cast<std::uint64_t>(sum));
}

// Call `act` with a typed pointer for the three widths that codes and labels come in, to constants where `Data` is one.
template <class Data, class Act>
auto with_type(std::size_t itemsize, Data* data, Act act) {
    constexpr bool constant = std::is_const_v<Data>;
    switch (itemsize) {
        case 1: return act(static_cast<std::conditional_t<constant, const std::uint8_t, std::uint8_t>*>(data));
        case 2: return act(static_cast<std::conditional_t<constant, const std::uint16_t, std::uint16_t>*>(data));
        default: return act(static_cast<std::conditional_t<constant, const std::uint32_t, std::uint32_t>*>(data));
    }
}

template <class Array, class Act>
auto with_type(const Array& array, Act act) {
    return with_type(array.itemsize(), array.data(), act);
}

// Whether every label names one of k clusters; a label below zero, read without its sign, names none. The maximum
// is taken in the labels' own type: sixteen bytes at a time cost next to nothing, numbers of 32 bits a fifth of a pass.
inline bool all_below(const AnyLabels& labels, std::size_t k) {
    return with_type(labels, [&, rows = labels.size()](auto* label) {
        std::remove_const_t<std::remove_pointer_t<decltype(label)>> largest = 0;
        for (std::size_t row = 0; row < rows; ++row) largest = std::max(largest, label[row]);
        return rows == 0 || largest < k;
    });
}

// Instruction sets this machine can run, the fastest first.
std::vector<std::string> levels();

inline void check_level(const std::string& level) {
    static const std::vector<std::string> known = levels();
    require(std::find(known.begin(), known.end(), level) != known.end(), "This machine lacks the instruction set.");
}

// What the parts of the core add to the module.
void bind_hard(nb::module_& module);
void bind_soft(nb::module_& module);
void bind_in_order(nb::module_& module);
void bind_away(nb::module_& module);
void bind_costs(nb::module_& module);
void bind_counts(nb::module_& module);

}  // namespace catalpa
