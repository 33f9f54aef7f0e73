//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package metal

import (
	"fmt"
	"os"
	"runtime"

	"github.com/ebitengine/purego"

	"github.com/bufslab/bufslab/device"
)

// doubleVariable names the library of a double on linux.
const doubleVariable = "BUFSLAB_METAL_DOUBLE"

// frameworks are where the functions are. Without CoreGraphics a command has no default device.
var frameworks = []string{
	"/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics",
	"/System/Library/Frameworks/Foundation.framework/Foundation",
	"/usr/lib/libobjc.A.dylib",
	"/System/Library/Frameworks/Metal.framework/Metal",
}

func libraries() ([]string, error) {
	if runtime.GOOS == "darwin" {
		return frameworks, nil
	}
	if double := os.Getenv(doubleVariable); double != "" {
		return []string{double}, nil
	}
	return nil, fmt.Errorf("metal: there is Metal on macOS only, and this is %s: %w", runtime.GOOS,
		device.ErrUnavailable)
}

// load finds the functions.
func load() (*api, error) {
	names, err := libraries()
	if err != nil {
		return nil, err
	}
	var open []uintptr
	for _, name := range names {
		lib, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			return nil, fmt.Errorf("metal: no library %s: %w: %w", name, err, device.ErrUnavailable)
		}
		open = append(open, lib)
	}
	a := &api{call: purego.SyscallN}
	if err := a.bind(open); err != nil {
		return nil, err
	}
	a.register()
	return a, nil
}

func (a *api) bind(libraries []uintptr) error {
	for symbol, at := range map[string]*uintptr{
		"objc_msgSend":                 &a.send,
		"sel_registerName":             &a.registerName,
		"objc_autoreleasePoolPush":     &a.poolPush,
		"objc_autoreleasePoolPop":      &a.poolPop,
		"MTLCreateSystemDefaultDevice": &a.systemDevice,
		"MTLCopyAllDevices":            &a.allDevice,
	} {
		for _, lib := range libraries {
			if *at == 0 {
				*at, _ = purego.Dlsym(lib, symbol)
			}
		}
		if *at == 0 {
			return fmt.Errorf("metal: no function %s: %w", symbol, device.ErrUnavailable)
		}
	}
	return nil
}
