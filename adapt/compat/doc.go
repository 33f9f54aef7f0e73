// Package compat has no code. Its tests run the suites of other libraries, and programs of
// their own, on the pools that package adapt hands to those libraries. It is a module of its
// own, so that nobody inherits what it requires.
package compat
