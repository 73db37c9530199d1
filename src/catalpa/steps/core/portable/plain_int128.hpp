// Sums of 128 bits for compilers that have none: what the core does with them, wrapping as true ones do with -fwrapv.

#pragma once

#include <cstdint>
#include <type_traits>

namespace catalpa {

class Int128 {
   public:
    Int128() = default;
    // From any integer, as the true type can be.
    template <class Whole, class = std::enable_if_t<std::is_integral_v<Whole>>>
    constexpr Int128(Whole value)
        : high_(std::is_signed_v<Whole> && value < 0 ? ~std::uint64_t{0} : 0), low_(static_cast<std::uint64_t>(value)) {}

    friend Int128 operator+(Int128 a, Int128 b) {
        const std::uint64_t low = a.low_ + b.low_;
        return {a.high_ + b.high_ + (low < a.low_ ? 1 : 0), low};
    }
    friend Int128 operator-(Int128 a) { return Int128(~a.high_, ~a.low_) + Int128(1); }
    friend Int128 operator*(Int128 a, Int128 b) {
        const std::uint64_t half = 0xFFFFFFFF, a0 = a.low_ & half, a1 = a.low_ >> 32, b0 = b.low_ & half, b1 = b.low_ >> 32;
        const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & half);
        return {a.high_ * b.low_ + a.low_ * b.high_ + a1 * b1 + (middle >> 32) + (other >> 32), a.low_ * b.low_};
    }
    friend Int128 operator<<(Int128 a, int by) {
        if (by == 0) return a;
        if (by >= 64) return {a.low_ << (by - 64), 0};
        return {a.high_ << by | a.low_ >> (64 - by), a.low_ << by};
    }
    // Keeps the sign.
    friend Int128 operator>>(Int128 a, int by) {
        const std::uint64_t sign = a.high_ >> 63 ? ~std::uint64_t{0} : 0;
        if (by == 0) return a;
        if (by == 64) return {sign, a.high_};
        if (by > 64) return {sign, a.high_ >> (by - 64) | sign << (128 - by)};
        return {a.high_ >> by | sign << (64 - by), a.low_ >> by | a.high_ << (64 - by)};
    }
    Int128& operator+=(Int128 more) { return *this = *this + more; }
    explicit operator bool() const { return (high_ | low_) != 0; }
    explicit operator std::int64_t() const { return static_cast<std::int64_t>(low_); }
    explicit operator std::uint64_t() const { return low_; }

   private:
    constexpr Int128(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}
    std::uint64_t high_, low_;
};

}  // namespace catalpa
