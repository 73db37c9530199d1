// Sums of labelled rows by the places of their cells: the compiled twin of counts.py.

#include "../arrays.hpp"

namespace {

using namespace catalpa;

// Add the values of each row, (rows, values), to the places (labels * length, values) that its cells have in its cluster;
// rows without values count one. Whether all codes and labels name places; where one does not, the rest means nothing.
template <class Code, bool ones>
bool add_rows(const Code* codes, const Ints& labels, const Matrix<const std::int64_t>& values, const Ints& starts, const Cells& into) {
    const std::size_t columns = starts.size() - 1, rows = labels.size(), width = into.shape(1);
    const auto length = static_cast<std::size_t>(starts.data()[columns]), k = length ? into.shape(0) / length : 0;
    std::vector<std::size_t> begins(starts.data(), starts.data() + columns + 1);
    for (std::size_t row = 0; row < rows; ++row, codes += columns) {
        const auto label = static_cast<std::size_t>(labels.data()[row]);
        if (columns && label >= k) return false;
        std::int64_t* own = into.data() + label * length * width;
        const std::int64_t* value = ones ? nullptr : values.data() + row * width;
        for (std::size_t column = 0; column < columns; ++column) {
            const std::size_t place = begins[column] + codes[column];
            if (place >= begins[column + 1]) return false;
            if constexpr (ones)
                ++own[place];
            else
                for (std::size_t j = 0; j < width; ++j) own[place * width + j] += value[j];
        }
    }
    return true;
}

void sum_by_place(const AnyCodes& codes, const Ints& labels, const Matrix<const std::int64_t>& values, const Ints& starts,
                  const Cells& into) {
    require(is_unsigned(codes.dtype()), "Codes are unsigned integers of 8, 16 or 32 bits.");
    require(starts.size() == codes.shape(1) + 1, "starts must have one entry per column, and the end.");
    check_columns(starts, static_cast<std::size_t>(std::max<std::int64_t>(starts.data()[starts.size() - 1], 0)));
    require(labels.size() == codes.shape(0), "labels must have one entry per row.");
    const bool ones = values.shape(0) == 0;
    require(ones ? into.shape(1) == 1 : has_shape(values, labels.size(), into.shape(1)), "values must be rows by sums.");
    bool inside;
    {
        nb::gil_scoped_release unlocked;
        inside = with_type(codes, [&](auto* from) {
            using Code = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
            return ones ? add_rows<Code, true>(from, labels, values, starts, into) : add_rows<Code, false>(from, labels, values, starts, into);
        });
    }
    require(inside, "Codes and labels must name places.");
}

}  // namespace

void catalpa::bind_count(nb::module_& module) { module.def("sum_by_place", &sum_by_place); }
