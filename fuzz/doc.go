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
// This is the only package that imports rapid.
package fuzz
