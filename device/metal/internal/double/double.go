//go:build linux && !android && (amd64 || arm64)

package double

import (
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is the double, 0 where there is none.
var library = sync.OnceValue(func() uintptr {
	lib, err := purego.Dlopen(os.Getenv(Variable), purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if os.Getenv(Variable) == "" || err != nil {
		return 0
	}
	return lib
})

// Present says whether Metal is the double.
func Present() bool { return library() != 0 }

// Call calls a function of the double. Pointers among the arguments are the caller's to keep.
func Call(name string, args ...uintptr) uintptr {
	at, err := purego.Dlsym(library(), name)
	if err != nil {
		panic(err)
	}
	r, _, _ := purego.SyscallN(at, args...)
	return r
}

// cString is a text for C, which stays where it is until unpin.
func cString(text string) (at uintptr, unpin func()) {
	m := append([]byte(text), 0)
	var pin runtime.Pinner
	pin.Pin(&m[0])
	return uintptr(unsafe.Pointer(&m[0])), pin.Unpin
}

// Classes of objects, as driver/double.h has them.
const (
	Buffer   = 3
	Queue    = 4
	Commands = 5
	Encoder  = 6
	Event    = 7
)

// Refuse makes the n-th object of a class from now nil. 1 is the next; 0 takes it back.
func Refuse(class, n int) { Call("bufslab_double_refuse", uintptr(class), uintptr(n)) }

// Fail makes the n-th command buffer from now fail with a code when its work is due, and after code
// 11 all later ones. 0 takes that back, as no Mac does.
func Fail(n, code int) { Call("bufslab_double_fail", uintptr(n), uintptr(code)) }

// Set changes a setting, such as LAZY, and returns what it was.
func Set(name string, value int) (was int) {
	at, unpin := cString(name)
	defer unpin()
	return int(Call("bufslab_double_set", at, uintptr(value)))
}

// Mistakes returns how many there were since it was last called, and what the last was.
func Mistakes() (n int, last string) {
	text := make([]byte, 256)
	var pin runtime.Pinner
	pin.Pin(&text[0])
	defer pin.Unpin()
	n = int(Call("bufslab_double_mistakes", uintptr(unsafe.Pointer(&text[0])), uintptr(len(text))))
	for i, b := range text {
		if b == 0 {
			return n, string(text[:i])
		}
	}
	return n, string(text)
}

// Living returns how many objects there are, but for GPUs.
func Living() int { return int(Call("bufslab_double_living")) }
