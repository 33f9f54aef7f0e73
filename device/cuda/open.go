//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bufslab/bufslab/device"
)

func init() { device.Register("cuda", open) }

// sources are the kinds of memory that a name can end in.
var sources = map[string]func(*gpu) (source, error){
	"":        newPlain,
	"managed": newManaged,
	"async":   newPool,
}

// open takes what follows the colon: nothing, ORDINAL or ORDINAL:KIND.
func open(rest string) (device.Device, error) {
	number, kind, colon := strings.Cut(rest, ":")
	make := sources[kind]
	if make == nil || colon && kind == "" {
		return nil, fmt.Errorf("cuda: no memory %q, only managed and async: %w", kind, device.ErrUnavailable)
	}
	ordinal := uint64(0)
	if rest != "" {
		var err error
		if ordinal, err = strconv.ParseUint(number, 10, 31); err != nil { // the driver's int has 32 bits
			return nil, fmt.Errorf("cuda: %q is no number of a GPU: %w", number, device.ErrUnavailable)
		}
	}
	g, err := gpuOf(int(ordinal))
	if err != nil {
		return nil, err
	}
	from, err := make(g)
	if err != nil {
		return nil, err
	}
	return newMemory(strings.TrimSuffix("cuda:"+rest, ":"), g, from), nil
}
