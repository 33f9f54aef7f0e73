// Package invariants says whether this is a check build: one that spends time
// on finding misuse. The build tag invariants makes it one.
package invariants
