// Arrays that come from Python, and what both passes of the core do with them.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#if !defined(__SIZEOF_INT128__)
#error "Catalpa's core needs a compiler with 128-bit integers and vector types: GCC 12, Clang 11 or newer."
#endif

namespace catalpa {

namespace nb = nanobind;

using Int128 = __int128;

constexpr int TICK_BITS = 24;
constexpr int SQUARE_BITS = 26;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyCodes = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyLabels = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Wrapping arithmetic, as NumPy has it; plain overflow would be undefined.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// A sum as two halves of 128 bits.
inline nb::tuple halves(Int128 sum) {
    return nb::make_tuple(static_cast<std::int64_t>(sum >> 64), static_cast<std::uint64_t>(sum));
}

// Call `act` with typed pointers for the three widths that codes and labels come in.
template <class Array, class Act>
auto with_type(const Array& array, Act act) {
    switch (array.itemsize()) {
        case 1: return act(static_cast<const std::uint8_t*>(array.data()));
        case 2: return act(static_cast<const std::uint16_t*>(array.data()));
        default: return act(static_cast<const std::uint32_t*>(array.data()));
    }
}

// Instruction sets this machine can run, the fastest first.
std::vector<std::string> levels();

// The soft pass (soft.cpp) joins the module.
void bind_soft(nb::module_& module);

}  // namespace catalpa
