// Natural logarithms: the compiled twin of soft/logarithms.py.

#include "logarithm.hpp"

using namespace catalpa;

#define CATALPA_KERNELS "between/logarithm_rows.hpp"
#include "../each_level.hpp"

namespace {

void logarithm(const Vector<const double>& from, const Vector<double>& to, const std::string& level) {
    require(to.size() == from.size(), "There must be as many logarithms as numbers.");
    check_level(level);
    nb::gil_scoped_release unlocked;
    CATALPA_AT_LEVEL(level, logarithms, from.data(), to.data(), from.size());
}

}  // namespace

void catalpa::bind_logarithm(nb::module_& module) { module.def("logarithm", &logarithm); }
