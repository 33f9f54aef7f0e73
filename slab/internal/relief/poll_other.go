//go:build !linux

package relief

import "github.com/bufslab/bufslab/internal/cgroup"

func newWaiter(cgroup.System) waiter { return newClock() }
