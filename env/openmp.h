// Settings for how OpenMP's idle threads wait.
#ifndef TENON_ENV_OPENMP_H_
#define TENON_ENV_OPENMP_H_

namespace tenon {

// Sets a short GOMP_SPINCOUNT, and OMP_WAIT_POLICY, in the environment, unless one of them is set
// already. Returns true if it did. libgomp reads its settings when it is loaded, so a program
// linked to it must restart.
//
// By default, idle threads spin for milliseconds. On a machine with other work, the thread that
// they wait for then gets no CPU, and a barrier takes as long as a time slice.
bool SetShortSpin();

// Removes the settings from the environment again, once libgomp has been loaded.
void UnsetSpin();

}  // namespace tenon

#endif  // TENON_ENV_OPENMP_H_
