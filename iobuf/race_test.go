//go:build race

package iobuf

const raceEnabled = true
