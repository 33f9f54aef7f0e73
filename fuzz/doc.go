// Package fuzz verifies implementations of the interfaces of this library
// against models. The checks are state machines: random programs run on the
// implementation and on a model beside it that holds contents, and the two
// are compared after every step. A failing program is cut down to a short one.
//
// RAPID_CHECKS and RAPID_STEPS in the environment say how many programs run
// and how long they are. This is the only package that imports rapid.
package fuzz
