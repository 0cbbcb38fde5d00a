// How OpenMP's idle threads wait.
#ifndef TENON_ENV_OPENMP_H_
#define TENON_ENV_OPENMP_H_

namespace tenon {

// Puts a short GOMP_SPINCOUNT into the environment, and OMP_WAIT_POLICY, unless one of them is
// there. True if it did. libgomp reads its settings when it is loaded: a program that is linked to
// it must start again.
//
// By default idle threads spin for milliseconds. On a machine that does other work as well the
// thread that they wait for then gets no CPU: a barrier takes as long as a time slice.
bool SetShortSpin();

// Takes them out of the environment again, once libgomp has been loaded.
void UnsetSpin();

}  // namespace tenon

#endif  // TENON_ENV_OPENMP_H_
