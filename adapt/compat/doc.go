// Package compat has no code. Its tests run the suites of other libraries, and programs of
// their own, on the pools that package adapt hands to those libraries. It is a module of its
// own, so that nobody inherits what it requires. Command ports, below it, runs the suites of programs
// that have pools of their own, with ours in the place of theirs.
package compat
