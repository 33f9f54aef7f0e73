// Package fuzz tests a device, a strategy or a pool that you have written, against a model. A program
// that only uses pools does not need it. A check is one call in a test of yours:
//
//	func TestMine(t *testing.T) {
//		fuzz.CheckAllocator(t, func(upstream slab.Allocator) slab.Allocator { return newMine(upstream) })
//	}
//
// There is a check for devices ([CheckDevice]), strategies ([CheckAllocator]), pools ([CheckPool]),
// pools of keyed buffers ([CheckGrowPool]) and unified buffers ([CheckUnified]). An [Option] says what
// a check may take for granted, and which memory it uses.
//
// The checks are state machines: random programs run on the implementation and on a model that holds
// contents, and the two are compared after every step. A failing program is cut down to a short one.
//
// RAPID_CHECKS and RAPID_STEPS in the environment say how many programs run and how long they are.
// Unless RAPID_CHECKS or BUFSLAB_STRESS is set, a check that has taken a second runs no further
// programs, and logs how many it ran.
//
// # Tests of this package
//
// They are longer by BUFSLAB_STRESS, and log what they counted:
//
//	BUFSLAB_STRESS=10000000 go test -v -timeout 2h -run TestModelsAtLength ./fuzz  # steps over all models, with seeds
//	BUFSLAB_STRESS=10000 go test -v -timeout 2h -run TestHistories ./fuzz          # concurrent histories of each kind
//
// The model of each check is a package under internal. This is the only package that imports rapid.
package fuzz
