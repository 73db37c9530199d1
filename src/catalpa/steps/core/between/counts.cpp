// Sums of labelled rows by the places of their cells, and the most frequent ones: compiled twins of what counts.py has.

#include "../arrays.hpp"

namespace {

using namespace catalpa;

// Add the values of each row, (rows, values), to the places (labels * length, values) that its cells have in its cluster;
// rows without values count one. Whether all codes and labels name places; where one does not, the rest means nothing.
template <bool ones, class Code>
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
    check_codes(codes);
    check_columns(starts, codes.shape(1));
    require(labels.size() == codes.shape(0), "labels must have one entry per row.");
    const bool ones = values.shape(0) == 0;
    require(ones ? into.shape(1) == 1 : has_shape(values, labels.size(), into.shape(1)), "values must be rows by sums.");
    bool inside;
    {
        nb::gil_scoped_release unlocked;
        inside = with_type(codes, [&](auto* from) {
            return ones ? add_rows<true>(from, labels, values, starts, into) : add_rows<false>(from, labels, values, starts, into);
        });
    }
    require(inside, "Codes and labels must name places.");
}

// The most frequent category of every column in every cluster, the lowest of equals; 0, and a count of 0, in a column without categories.
void most_frequent(const Matrix<const std::int64_t>& counts, const Ints& starts, const Cells& modes, const Cells& most) {
    const std::size_t k = counts.shape(0), columns = modes.shape(1);
    check_columns(starts, columns, counts.shape(1));
    require(has_shape(modes, k, columns) && has_shape(most, k, columns), "modes and most must be clusters by columns.");
    nb::gil_scoped_release unlocked;
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t column = 0; column < columns; ++column) {
            const std::int64_t* begin = counts.data() + j * counts.shape(1) + starts.data()[column];
            const std::int64_t* end = counts.data() + j * counts.shape(1) + starts.data()[column + 1];
            std::int64_t largest = begin == end ? 0 : *begin;
            for (const std::int64_t* at = begin; at < end; ++at) largest = std::max(largest, *at);
            modes.data()[j * columns + column] = std::find(begin, end, largest) - begin;
            most.data()[j * columns + column] = largest;
        }
}

}  // namespace

void catalpa::bind_counts(nb::module_& module) {
    module.def("sum_by_place", &sum_by_place);
    module.def("most_frequent", &most_frequent);
}
