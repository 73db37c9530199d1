// Numbers of the rows of a soft pass, laid out as its kernels read them. Made once, for all passes over the rows.

#pragma once

#include "groups.hpp"

namespace {

using namespace catalpa;

constexpr std::size_t TOGETHER = 16;   // rows whose whole numbers are side by side
constexpr double MOMENT_PARTS = 8192;  // of the range, and of the largest square, that sums are counted in

struct MissingCell {
    std::uint32_t row, column;
};

// For every sixteen rows, column by column. A missing number, and one of a row behind the last, is 0 everywhere.
class SoftNumbers {
   public:
    std::size_t rows = 0, numeric = 0;
    Aligned<float> away;                // (rows / 8, numeric, 8) from -1 at the lower end to 1 at the upper one
    Aligned<std::int32_t> parts;        // (rows / 16, numeric, 2, 8) the number, then the square of how far it is away, as
                                        // 16-bit whole numbers: that of row r, and above it that of row r + 8
    std::vector<MissingCell> missing;   // by row

    SoftNumbers() = default;
    explicit SoftNumbers(const Numbers& numbers)
        : rows(numbers.shape(0)), numeric(numbers.shape(1)),
          away(Aligned<float>::cleared(padded() * numeric)), parts(Aligned<std::int32_t>::cleared(padded() * numeric)) {
        nb::gil_scoped_release unlocked;
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < numeric; ++column) {
                const double own = numbers.data()[row * numeric + column];
                if (own != own) {
                    missing.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column)});
                    continue;
                }
                const double number = own < 0.0 ? 0.0 : own > 1.0 ? 1.0 : own;
                away[(row / 8 * numeric + column) * 8 + row % 8] = static_cast<float>(2.0 * number - 1.0);
                const auto whole = static_cast<std::int32_t>(nearest(number * MOMENT_PARTS)), off = whole - 4096;
                std::int32_t* to = parts.data() + (row / TOGETHER * numeric + column) * 16 + row % 8;
                const int up = row % TOGETHER < 8 ? 0 : 16;
                to[0] |= whole << up;
                to[8] |= ((off * off + 1024) >> 11) << up;
            }
    }

    const std::int32_t* parts_of(std::size_t row, std::size_t column) const {
        return parts.data() + (row / TOGETHER * numeric + column) * 16 + row % 8;
    }
    std::int32_t number(std::size_t row, std::size_t column) const { return one_of(*parts_of(row, column), row); }
    std::int32_t square(std::size_t row, std::size_t column) const { return one_of(parts_of(row, column)[8], row); }

    // Missing cells of the rows from `begin` to `end`.
    std::pair<const MissingCell*, const MissingCell*> missing_in(std::size_t begin, std::size_t end) const {
        const auto before = [](const MissingCell& cell, std::size_t row) { return cell.row < row; };
        const MissingCell *first = missing.data(), *last = first + missing.size();
        first = std::lower_bound(first, last, begin, before);
        return {first, std::lower_bound(first, last, end, before)};
    }

   private:
    std::size_t padded() const { return (rows + TOGETHER - 1) / TOGETHER * TOGETHER; }
    static double nearest(double number) { return (number + 0x1.8p52) - 0x1.8p52; }
    static std::int32_t one_of(std::int32_t both, std::size_t row) {
        return row % TOGETHER < 8 ? both & 0xFFFF : both >> 16;
    }
};

}  // namespace
