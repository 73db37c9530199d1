// Squared distances of all rows from some, in whole numbers: the compiled twin of what cluster/grove/starts.py has.

#include "../arrays.hpp"

namespace {

using namespace catalpa;

constexpr std::size_t AT_ONCE = 128;  // rows whose columns and sums stay in the first cache
constexpr int FAR_BITS = 6;
constexpr double MOST = 0x1p62;

struct Points {
    const double* data;
    std::size_t axes, rows;
    double drop;
};

template <class Code>
struct Table {
    const Code* codes;
    const double* numbers;
    std::size_t columns, numeric, rows;
};

// What is no number, or beyond 64 bits, is as far as can be.
inline std::int64_t whole(double value) { return static_cast<std::int64_t>(value < MOST ? value : MOST); }

}  // namespace

#define CATALPA_KERNELS "between/away_rows.hpp"
#include "../each_level.hpp"

namespace {

void check(const Ints& from, const Cells& into, std::size_t rows, const std::string& level) {
    for (std::size_t at = 0; at < from.size(); ++at)
        require(from.data()[at] >= 0 && static_cast<std::size_t>(from.data()[at]) < rows, "There is no such row.");
    require(has_shape(into, from.size(), rows), "Distances must be those of all rows from each that is asked for.");
    check_level(level);
}

// Call `act` with a row that is asked for, some rows, and where their distances go.
template <class Act>
void each_part(const Ints& from, const Cells& into, Act act) {
    const std::size_t rows = into.shape(1);
    nb::gil_scoped_release unlocked;
    for (std::size_t begin = 0; begin < rows; begin += AT_ONCE)
        for (std::size_t at = 0; at < from.size(); ++at)
            act(static_cast<std::size_t>(from.data()[at]), begin, std::min(begin + AT_ONCE, rows), into.data() + at * rows + begin);
}

void points_away(const Numbers& points, const Ints& from, double drop, const Cells& into, const std::string& level) {
    check(from, into, points.shape(1), level);
    require(drop >= 0.0, "Squared distances are multiplied by a number of at least 0.");
    const Points all{points.data(), points.shape(0), points.shape(1), drop};
    each_part(from, into, [&](std::size_t row, std::size_t begin, std::size_t end, std::int64_t* to) {
        CATALPA_AT_LEVEL(level, points_from, all, row, begin, end, to);
    });
}

void cells_away(const AnyCodes& codes, const Numbers& numbers, const Ints& from, const Cells& into,
                const std::string& level) {
    check_codes(codes);
    require(numbers.shape(1) == codes.shape(1), "numbers must be numeric columns by rows.");
    check(from, into, codes.shape(1), level);
    with_type(codes, [&](auto* code) {
        const Table<std::remove_const_t<std::remove_pointer_t<decltype(code)>>> all{
            code, numbers.data(), codes.shape(0), numbers.shape(0), codes.shape(1)};
        each_part(from, into, [&](std::size_t row, std::size_t begin, std::size_t end, std::int64_t* to) {
            CATALPA_AT_LEVEL(level, cells_from, all, row, begin, end, to);
        });
    });
}

}  // namespace

void catalpa::bind_away(nb::module_& module) {
    module.def("points_away", &points_away);
    module.def("cells_away", &cells_away);
}
