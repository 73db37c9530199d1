// The most frequent category of every column in every cluster: the compiled twin of modes.py.

#include "../arrays.hpp"

namespace {

using namespace catalpa;

// The lowest of equals; 0, and a count of 0, in a column without categories.
void most_frequent(const Matrix<const std::int64_t>& counts, const Ints& starts, const Cells& modes, const Cells& most) {
    const std::size_t k = counts.shape(0), columns = modes.shape(1);
    require(starts.size() == columns + 1, "starts must have one entry per column, and the end.");
    check_columns(starts, counts.shape(1));
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

void catalpa::bind_modes(nb::module_& module) { module.def("most_frequent", &most_frequent); }
