//go:build darwin || dragonfly || freebsd || netbsd || openbsd || solaris

package device

// mostMappings is not known here.
func mostMappings() (int64, bool) { return 0, false }

func countMappings() (int64, bool) { return 0, false }
