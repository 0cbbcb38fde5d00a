// Settings for how OpenMP's idle threads wait.
#ifndef TENON_ENV_OPENMP_H_
#define TENON_ENV_OPENMP_H_

namespace tenon {

// Sets a short GOMP_SPINCOUNT in the environment, and OMP_WAIT_POLICY if `many_teams`: several of
// the process's threads are going to use OpenMP, each with helpers of its own. Changes nothing if
// one of them is set already. Returns true if it did. libgomp reads its settings when it is loaded,
// so a program linked to it must restart.
//
// By default, idle threads spin for milliseconds. On a machine with other work, the thread that
// they wait for then gets no CPU, and a barrier takes as long as a time slice.
bool SetShortSpin(bool many_teams);

// Removes the settings from the environment again, once libgomp has been loaded.
void UnsetSpin();

}  // namespace tenon

#endif  // TENON_ENV_OPENMP_H_
