//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package iobuf

// idleBytes is what ReadReady holds while nothing comes.
const idleBytes = pieceBytes
