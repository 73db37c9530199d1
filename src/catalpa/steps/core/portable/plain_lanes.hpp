// Eight 32-bit numbers at a time in plain loops, for compilers without vector types; lanes.hpp includes it.

using Longs = std::uint64_t;
using Eight = Lanes<std::int32_t>;
using Singles = Lanes<float>;
using Shorts = Lanes<std::int16_t>;
using Bytes = Lanes<std::uint8_t, 32>;

template <class Number, class Act>
inline Lanes<Number> each_lane(Act act) {
    Lanes<Number> out;
    for (int i = 0; i < 8; ++i) out.at[i] = static_cast<Number>(act(i));
    return out;
}

inline Singles operator/(Singles a, Singles b) {
    return each_lane<float>([&](int i) { return a.at[i] / b.at[i]; });
}
inline Eight operator&(Eight a, Eight b) {
    return each_lane<std::int32_t>([&](int i) { return a.at[i] & b.at[i]; });
}
inline Eight operator|(Eight a, Eight b) {
    return each_lane<std::int32_t>([&](int i) { return a.at[i] | b.at[i]; });
}
inline Eight operator<<(Eight a, int by) {
    return each_lane<std::int32_t>([&](int i) { return modular(a.at[i]) << by; });
}
inline Eight most(Eight a, Eight b) {
    return each_lane<std::int32_t>([&](int i) { return most(a.at[i], b.at[i]); });
}

// Lanes of two, picked: lanes of a are 0 to 7, lanes of b 8 to 15.
template <int... from>
inline Eight shuffled(Eight a, Eight b) {
    return {{(from < 8 ? a.at[from % 8] : b.at[from % 8])...}};
}
inline Eight front1(Eight a, Eight b) { return shuffled<0, 8, 1, 9, 4, 12, 5, 13>(a, b); }
inline Eight back1(Eight a, Eight b) { return shuffled<2, 10, 3, 11, 6, 14, 7, 15>(a, b); }
inline Eight front2(Eight a, Eight b) { return shuffled<0, 1, 8, 9, 4, 5, 12, 13>(a, b); }
inline Eight back2(Eight a, Eight b) { return shuffled<2, 3, 10, 11, 6, 7, 14, 15>(a, b); }
inline Eight front3(Eight a, Eight b) { return shuffled<0, 1, 2, 3, 8, 9, 10, 11>(a, b); }
inline Eight back3(Eight a, Eight b) { return shuffled<4, 5, 6, 7, 12, 13, 14, 15>(a, b); }

inline Eight every(std::int32_t x) {
    return each_lane<std::int32_t>([&](int) { return x; });
}
inline Singles every(float x) {
    return each_lane<float>([&](int) { return x; });
}
inline Eight bits(Singles a) { return loaded<Eight>(&a); }
inline Singles singles(Eight a) { return loaded<Singles>(&a); }
inline Singles converted(Eight a) {
    return each_lane<float>([&](int i) { return static_cast<float>(a.at[i]); });
}
inline Eight rounded(Singles a) {
    return each_lane<std::int32_t>([&](int i) { return static_cast<std::int32_t>(std::rint(a.at[i])); });
}
inline Eight magnitude(Eight a) {
    return each_lane<std::int32_t>([&](int i) { return a.at[i] < 0 ? 0u - modular(a.at[i]) : modular(a.at[i]); });
}
inline Eight equal(Eight a, Eight b) {
    return each_lane<std::int32_t>([&](int i) { return a.at[i] == b.at[i] ? -1 : 0; });
}
inline Eight choose(Eight mask, Eight a, Eight b) {
    return each_lane<std::int32_t>([&](int i) { return mask.at[i] ? a.at[i] : b.at[i]; });
}
inline unsigned lanes_of(Eight mask) {
    unsigned out = 0;
    for (int i = 0; i < 8; ++i) out |= (mask.at[i] ? 1u : 0u) << i;
    return out;
}
inline std::uint32_t lane(Eight a, int i) { return modular(a.at[i]); }

inline Shorts shorts(Shorts a) { return a; }
inline Shorts smallest_of(Bytes sums, Bytes index) {
    Shorts parts[4];
    for (int i = 0; i < 32; ++i) parts[i / 8].at[i % 8] = static_cast<std::int16_t>(sums.at[i] << 8 | index.at[i]);
    return least(least(parts[0], parts[1]), least(parts[2], parts[3]));
}
inline Shorts smallest_of_each(const Shorts rows[8]) {
    Shorts out;
    for (int row = 0; row < 8; ++row) {
        out.at[row] = rows[row].at[0];
        for (int i = 1; i < 8; ++i) out.at[row] = rows[row].at[i] < out.at[row] ? rows[row].at[i] : out.at[row];
    }
    return out;
}
