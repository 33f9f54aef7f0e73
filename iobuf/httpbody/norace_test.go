//go:build !race

package httpbody

const raceEnabled = false
