//go:build !(linux && !android && (amd64 || arm64))

package double

// Classes of objects.
const (
	Buffer = iota
	Queue
	Commands
	Encoder
	Event
)

const absent = "double: there is none for this system"

// Present says that there is no double.
func Present() bool { return false }

// Call panics.
func Call(string, ...uintptr) uintptr { panic(absent) }

// Refuse panics.
func Refuse(int, int) { panic(absent) }

// Fail panics.
func Fail(int, int) { panic(absent) }

// Set panics.
func Set(string, int) int { panic(absent) }

// Mistakes panics.
func Mistakes() (int, string) { panic(absent) }

// Living panics.
func Living() int { panic(absent) }
