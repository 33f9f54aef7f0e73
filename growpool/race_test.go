//go:build race

package growpool

const raceEnabled = true
