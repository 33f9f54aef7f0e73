// Package fuzz verifies implementations of the interfaces of this library
// against models. The checks are state machines: random programs run on the
// implementation and on a model beside it that holds contents, and the two
// are compared after every step. A failing program is cut down to a short one.
//
// There is a check for devices, strategies, pools, pools of keyed buffers and
// unified buffers. Each is a call in a test of yours. What it takes for granted,
// and what it puts beneath, is set by an [Option]. The model of each check is a
// package under internal.
//
// RAPID_CHECKS and RAPID_STEPS in the environment say how many programs run
// and how long they are. Unless RAPID_CHECKS or BUFSLAB_STRESS is set, a check
// that has taken a second runs no further programs, and logs how many it ran.
//
// Tests of this package are longer by BUFSLAB_STRESS, and log what they counted:
//
//	BUFSLAB_STRESS=10000000 go test -v -timeout 2h -run TestModelsAtLength ./fuzz  # steps over all models, with seeds
//	BUFSLAB_STRESS=10000 go test -v -timeout 2h -run TestHistories ./fuzz          # concurrent histories of each kind
//
// This is the only package that imports rapid.
package fuzz
