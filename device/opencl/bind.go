//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package opencl

import (
	"fmt"
	"reflect"
	"runtime"

	"github.com/ebitengine/purego"

	"github.com/bufslab/bufslab/device"
)

// libraries is where libOpenCL may be. On linux it is a loader that asks each
// driver of the system in turn, without a version in the name only where the
// development files are.
func libraries() []string {
	if runtime.GOOS == "darwin" {
		return []string{"/System/Library/Frameworks/OpenCL.framework/OpenCL"}
	}
	return []string{"libOpenCL.so.1", "libOpenCL.so"}
}

// load finds the functions in the first of the libraries that is there.
func load(libraries []string) (*api, error) {
	lib, name, err := dlopen(libraries)
	if err != nil {
		return nil, err
	}
	a := new(api)
	return a, bind(lib, name, a)
}

// dlopen never closes what it opens: drivers leave threads behind.
func dlopen(libraries []string) (lib uintptr, name string, err error) {
	var missing error
	for _, name := range libraries {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return lib, name, nil
		}
		if missing == nil {
			missing = err
		}
	}
	return 0, "", fmt.Errorf("opencl: no library %s: %w: %w", libraries[0], missing, device.ErrUnavailable)
}

// bind points every field of a struct of functions to what it is named after.
func bind(lib uintptr, name string, functions any) error {
	v := reflect.ValueOf(functions).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		symbol := f.Tag.Get("cl")
		if symbol == "" {
			symbol = "cl" + f.Name
		}
		at, err := purego.Dlsym(lib, symbol)
		if err == nil {
			purego.RegisterFunc(v.Field(i).Addr().Interface(), at)
			continue
		}
		if f.Tag.Get("since") == "" {
			return fmt.Errorf("opencl: %s has no %s, which OpenCL 1.2 has: %w", name, symbol, device.ErrUnavailable)
		}
	}
	return nil
}
