//go:build !race && cuda && cgo && linux && (amd64 || arm64)

package cuda

const raceEnabled = false
