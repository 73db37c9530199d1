// The kernels of the soft pass, in the order in which a row meets them.

#include "soft_costs.hpp"
#include "soft_shares.hpp"
#include "soft_sums.hpp"
