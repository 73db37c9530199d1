// Logarithms, compiled once per instruction set by each_level.hpp.

namespace CATALPA_LEVEL {

// Of positive normal numbers, taken apart by their bits, without a branch, so that several are treated at once.
CATALPA_TARGET inline void plain_logarithms(const double* from, double* to, std::size_t size) {
    constexpr std::uint64_t half_root = 0x3FE6A09E667F3BCD;  // the bits of .7071067811865476
    for (std::size_t i = 0; i < size; ++i) {
        std::uint64_t form;
        std::memcpy(&form, from + i, sizeof form);
        const std::uint64_t fraction = (form & 0xFFFFFFFFFFFFF) | 0x3FE0000000000000, low = (fraction - half_root) >> 63;
        // The exponent becomes the last bits of 2 ** 52: no instruction turns eight bytes into a double.
        const std::uint64_t doubled = fraction + (low << 52), raised = ((form >> 52) - low) | 0x4330000000000000;
        double mantissa, whole;
        std::memcpy(&mantissa, &doubled, sizeof mantissa);
        std::memcpy(&whole, &raised, sizeof whole);
        to[i] = from_parts(mantissa, whole - (0x1p52 + 1022.0));
    }
}

// Of any numbers; `to` may be `from`.
CATALPA_TARGET inline void logarithms(const double* from, double* to, std::size_t size) {
    constexpr std::size_t at_once = 64;  // numbers that stay in the first cache
    for (std::size_t at = 0; at < size; at += at_once) {
        const std::size_t some = std::min(at_once, size - at);
        if (plain(from + at, some)) {
            plain_logarithms(from + at, to + at, some);
            continue;
        }
        for (std::size_t i = at; i < at + some; ++i) to[i] = from_number(from[i]);
    }
}

}  // namespace CATALPA_LEVEL
