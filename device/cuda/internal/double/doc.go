// Package double controls the double of the CUDA driver in directory driver,
// where a program runs on it. Package cuda's tests are its only user.
package double
