// Distances of some rows from one, compiled once per instruction set by each_level.hpp. Columns lie one after another.

namespace CATALPA_LEVEL {

// Whole parts of `drop` times the squared distances of rows `begin` to `end`, at most AT_ONCE of them.
CATALPA_TARGET inline void points_from(const Points& points, std::size_t row, std::size_t begin, std::size_t end,
                                       std::int64_t* to) {
    double sums[AT_ONCE] = {};
    for (std::size_t axis = 0; axis < points.axes; ++axis) {
        const double* at = points.data + axis * points.rows;
        const double own = at[row];
        for (std::size_t i = begin; i < end; ++i) sums[i - begin] += (at[i] - own) * (at[i] - own);
    }
    for (std::size_t i = 0; i < end - begin; ++i) to[i] = whole(sums[i] * points.drop);
}

// Squares of the number of cells that differ; every number adds at most 1, and all together are in 2 ** -FAR_BITS.
template <class Code>
CATALPA_TARGET inline void cells_from(const Table<Code>& table, std::size_t row, std::size_t begin, std::size_t end,
                                      std::int64_t* to) {
    std::uint32_t differ[AT_ONCE] = {};
    for (std::size_t column = 0; column < table.columns; ++column) {
        const Code* at = table.codes + column * table.rows;
        const Code own = at[row];
        for (std::size_t i = begin; i < end; ++i) differ[i - begin] += at[i] != own;
    }
    double sums[AT_ONCE];
    for (std::size_t i = 0; i < end - begin; ++i) sums[i] = differ[i];
    for (std::size_t column = 0; column < table.numeric; ++column) {
        const double* at = table.numbers + column * table.rows;
        const double own = at[row];
        for (std::size_t i = begin; i < end; ++i) {
            const double part = (at[i] - own) * (at[i] - own) / 4.0;
            sums[i - begin] += part < 1.0 ? part : 1.0;
        }
    }
    const double fine = table.numeric ? 1 << FAR_BITS : 1.0;
    for (std::size_t i = 0; i < end - begin; ++i) {
        const std::int64_t away = whole(std::rint(sums[i] * fine));
        to[i] = times(away, away);
    }
}

}  // namespace CATALPA_LEVEL
