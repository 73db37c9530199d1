// The module _core: what its parts bind, and the instruction sets there are.

#include "arrays.hpp"

std::vector<std::string> catalpa::levels() {
    std::vector<std::string> found;
#if CATALPA_HAS_AVX2
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) found.push_back("AVX2");
#endif
    found.push_back("baseline");
    return found;
}

NB_MODULE(_core, module) {
#ifdef NDEBUG
    // What is alive when Python ends is freed with it; a user can do nothing with a list of it.
    nanobind::set_leak_warnings(false);
#endif
    module.doc() = "The compiled core; only catalpa.steps calls it.";
    module.def("levels", &catalpa::levels);
    catalpa::bind_hard(module);
    catalpa::bind_soft(module);
    catalpa::bind_in_order(module);
    catalpa::bind_away(module);
    catalpa::bind_costs(module);
    catalpa::bind_counts(module);
}
