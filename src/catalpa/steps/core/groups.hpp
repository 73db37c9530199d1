// Columns whose codes are fused into one: their places, and the fused codes of a block.

#pragma once

#include <memory>
#include <new>

#include "arrays.hpp"

namespace catalpa {

// Columns in groups. The last column of a group turns fastest.
class Groups {
   public:
    std::vector<std::size_t> widths;    // (columns,) places of each column
    std::vector<std::size_t> members;   // (columns,) the columns, group by group
    std::vector<std::size_t> starts;    // (groups + 1,) first of the members of each group
    std::vector<std::size_t> offsets;   // (groups + 1,) first fused place of each group
    std::vector<std::size_t> begin_of;  // (columns + 1,) first place of each column

    Groups(const Ints& widths_in, const Ints& members_in, const Ints& starts_in) : begin_of{0} {
        for (std::size_t column = 0; column < widths_in.size(); ++column) {
            const std::int64_t width = widths_in.data()[column];
            require(width >= 0 && width <= MOST_PLACES, "A column must have 0 to 2 ** 32 - 2 places.");
            widths.push_back(static_cast<std::size_t>(width));
            begin_of.push_back(begin_of.back() + widths.back());
        }
        std::vector<bool> met(widths.size());
        require(members_in.size() == widths.size(), "Every column must be in a group.");
        for (std::size_t at = 0; at < members_in.size(); ++at) {
            const std::int64_t column = members_in.data()[at];
            require(column >= 0 && column < static_cast<std::int64_t>(widths.size()) && !met[static_cast<std::size_t>(column)],
                    "Every column must be in one group.");
            members.push_back(static_cast<std::size_t>(column));
            met[members.back()] = true;
        }
        require(starts_in.size() >= 1 && starts_in.data()[0] == 0, "Groups of columns start with column 0.");
        for (std::size_t group = 1; group < starts_in.size(); ++group)
            require(starts_in.data()[group] > starts_in.data()[group - 1], "Groups of columns come in order.");
        require(starts_in.data()[starts_in.size() - 1] == static_cast<std::int64_t>(widths.size()),
                "Groups of columns must end with the last column.");
        starts.assign(starts_in.data(), starts_in.data() + starts_in.size());
        lay_out();
    }

    std::size_t columns() const { return widths.size(); }
    std::size_t length() const { return begin_of.back(); }  // places before fusing
    std::size_t groups() const { return starts.size() - 1; }
    std::size_t places() const { return offsets.back(); }
    std::size_t width(std::size_t group) const { return offsets[group + 1] - offsets[group]; }
    bool same_as(const Groups& other) const {
        return widths == other.widths && members == other.members && starts == other.starts;
    }

    // The sums of a group's places (width, lanes), added to those of its columns (length, lanes): by the code of the
    // last column, and, over its codes, to a group without it, which is what `left` is for.
    template <class Sum>
    void add_to_columns(std::size_t group, std::size_t lanes, std::vector<Sum>& left, Sum* by_place) const {
        std::size_t places = width(group);
        for (std::size_t at = starts[group + 1]; at-- > starts[group] && places > 0;) {
            const std::size_t column = members[at], begin = begin_of[column];
            places /= widths[column];
            const Sum* from = left.data();
            for (std::size_t place = 0; place < places; ++place) {
                Sum* rest = left.data() + place * lanes;
                for (std::size_t code = 0; code < widths[column]; ++code, from += lanes) {
                    Sum* to = by_place + (begin + code) * lanes;
                    for (std::size_t j = 0; j < lanes; ++j) {
                        const Sum own = from[j];
                        to[j] += own;
                        rest[j] = code == 0 ? own : rest[j] + own;
                    }
                }
            }
        }
    }

   private:
    // Fused codes are 32-bit numbers, the largest of which means that a cell is absent.
    static constexpr std::int64_t MOST_PLACES = ABSENT - 1;

    void lay_out() {
        offsets.assign(1, 0);
        for (std::size_t group = 0; group < groups(); ++group) {
            std::size_t places = 1;
            for (std::size_t at = starts[group]; at < starts[group + 1]; ++at) {
                places *= widths[members[at]];
                require(places <= MOST_PLACES, "A group of columns must fit a table.");
            }
            offsets.push_back(offsets.back() + places);
        }
    }
};

// Numbers that start at a cache line, left as they come unless cleared.
template <class T>
class Aligned {
   public:
    Aligned() = default;
    explicit Aligned(std::size_t size)
        : size_(size), data_(static_cast<T*>(::operator new(size * sizeof(T) + 1, std::align_val_t{64}))) {}
    static Aligned cleared(std::size_t size) {
        Aligned out(size);
        out.clear();
        return out;
    }
    void clear() { std::fill_n(data_.get(), size_, T{}); }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }

   private:
    struct Release {
        void operator()(T* data) const { ::operator delete(data, std::align_val_t{64}); }
    };
    std::size_t size_ = 0;
    std::unique_ptr<T[], Release> data_;
};

// The codes of a block, fused. They are made here, or come from Python as an array that is not written to any more, so
// that passes need not check every code again: each lies below its group's width.
class Fused {
   public:
    Groups groups;
    std::size_t rows, itemsize;

    // `inside` says whether every code lay below its column's width; where one did not, the rest means nothing.
    Fused(const AnyCodes& codes, const Groups& groups_in, bool& inside)
        : groups(groups_in), rows(codes.shape(0)), itemsize(narrowest()) {
        require(is_unsigned(codes.dtype()), "Codes are unsigned integers of at most 32 bits.");
        require(codes.shape(1) == groups.columns(), "Codes must have one column per width.");
        // Kernels take eight rows at a time, so there are rows of zeros behind the last one.
        data_.resize((rows + 7) / 8 * 8 * groups.groups() * itemsize);
        inside = with_type(codes, [&](auto* from) {
            return with_type(itemsize, data_.data(), [&](auto* to) {
                using To = std::remove_const_t<std::remove_pointer_t<decltype(to)>>;
                return fuse(from, const_cast<To*>(to));
            });
        });
    }

    // Codes that were fused before, which stay where they are.
    Fused(const AnyCodes& fused, std::size_t rows_in, const Groups& groups_in, bool& inside)
        : groups(groups_in), rows(rows_in), itemsize(narrowest()), kept_(fused) {
        require(is_unsigned(fused.dtype()) && fused.itemsize() == itemsize, "Fused codes must be as narrow as they can.");
        require(fused.shape(1) == groups.groups() && rows <= fused.shape(0) && (rows + 7) / 8 * 8 <= fused.shape(0),
                "Fused codes must have one column per group and whole eights of rows.");
        inside = with_type(fused, [&](auto* code) { return all_inside(code, fused.shape(0)); });
    }

    const void* data() const { return kept_.is_valid() ? kept_.data() : data_.data(); }
    std::size_t bytes() const { return rows * groups.groups() * itemsize; }

    void check(const Groups& of_tables) const {
        require(groups.same_as(of_tables), "Fused codes must have the groups of columns that the tables have.");
    }

   private:
    static constexpr std::size_t STRETCH = 64;  // rows fused at once: their codes stay in the first cache
    std::vector<std::uint8_t> data_;            // (rows rounded up to 8, groups), unless they are
    AnyCodes kept_;                             // here

    std::size_t narrowest() const {
        std::size_t widest = 1;
        for (std::size_t group = 0; group < groups.groups(); ++group) widest = std::max(widest, groups.width(group));
        return widest <= 1 << 8 ? 1 : widest <= 1 << 16 ? 2 : 4;
    }

    template <class Code>
    bool all_inside(const Code* codes, std::size_t all_rows) const {
        const std::size_t all = groups.groups();
        std::vector<Code> largest(all);
        for (std::size_t row = 0; row < all_rows; ++row, codes += all)
            for (std::size_t group = 0; group < all; ++group) largest[group] = std::max(largest[group], codes[group]);
        for (std::size_t group = 0; group < all; ++group)
            if (all_rows > 0 && largest[group] >= groups.width(group)) return false;
        return true;
    }

    template <class From, class To>
    bool fuse(const From* codes, To* out) const {
        const std::size_t columns = groups.columns(), all = groups.groups();
        bool inside = true;
        for (std::size_t begin = 0; begin < rows; begin += STRETCH) {
            const std::size_t some = std::min(STRETCH, rows - begin);
            for (std::size_t group = 0; group < all; ++group) {
                std::uint32_t fused[STRETCH] = {};
                for (std::size_t at = groups.starts[group]; at < groups.starts[group + 1]; ++at) {
                    const std::size_t column = groups.members[at];
                    const From* cell = codes + begin * columns + column;
                    const auto width = static_cast<std::uint32_t>(groups.widths[column]);
                    std::uint32_t largest = 0;
                    for (std::size_t i = 0; i < some; ++i) {
                        const std::uint32_t code = cell[i * columns];
                        largest = std::max(largest, code);
                        fused[i] = fused[i] * width + code;
                    }
                    inside &= largest < width;
                }
                for (std::size_t i = 0; i < some; ++i) out[(begin + i) * all + group] = static_cast<To>(fused[i]);
            }
        }
        return inside;
    }
};

}  // namespace catalpa
