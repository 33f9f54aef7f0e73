package budget

import (
	"reflect"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// devices has the budget of each device of the process that has members.
var devices = struct {
	sync.Mutex // before that of a Budget's members
	of         map[device.Device]*Budget
}{of: map[device.Device]*Budget{}}

// OfDevice returns the budget of a device, nil if nobody shares it.
func OfDevice(d device.Device) *Budget {
	if !has(d) {
		return nil
	}
	devices.Lock()
	defer devices.Unlock()
	return devices.of[d]
}

// has reports whether a device can have a budget: one that is no key of a map has none.
func has(d device.Device) bool { return d != nil && reflect.ValueOf(d).Comparable() }

// ShareDevice enters a member of a device's budget.
func ShareDevice(d device.Device, m Member) {
	if !has(d) {
		return
	}
	devices.Lock()
	defer devices.Unlock()
	b := devices.of[d]
	if b == nil {
		b = &Budget{}
		devices.of[d] = b
	}
	b.Share(m)
}

// UnshareDevice undoes ShareDevice.
func UnshareDevice(d device.Device, m Member) {
	if !has(d) {
		return
	}
	devices.Lock()
	defer devices.Unlock()
	if b := devices.of[d]; b != nil && b.Unshare(m) {
		delete(devices.of, d)
	}
}
