/* sim/sometimes.h - counts of the situations of sometimes.def, over the whole campaign. */
#ifndef CULEX_SIM_SOMETIMES_H
#define CULEX_SIM_SOMETIMES_H

#include <stdint.h>

enum sim_situation {
#define SITUATION(name, stores) SIM_##name,
#include "sometimes.def"
    SIM_SITUATION_COUNT
};

extern uint64_t sim_situations[SIM_SITUATION_COUNT];

#define SOMETIMES(name) ((void)sim_situations[SIM_##name]++)

#endif
