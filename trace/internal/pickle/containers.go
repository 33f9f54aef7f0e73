package pickle

import (
	"fmt"
	"slices"
)

func (d *decoder) remember(index uint64, err error) error {
	if err != nil {
		return err
	}
	v, err := d.top()
	if err != nil {
		return err
	}
	d.memo[index] = v
	return d.charge(chargeMemo)
}

func (d *decoder) recall(index uint64, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	v, known := d.memo[index]
	if !known {
		return nil, fmt.Errorf("%w: nothing was stored as %d", ErrBroken, index)
	}
	return v, nil
}

// tuple makes one of the n topmost values.
func (d *decoder) tuple(n int) (any, error) {
	from := len(d.stack) - n
	if from < d.floor() {
		return nil, fmt.Errorf("%w: the stack is empty", ErrBroken)
	}
	items := slices.Clone(d.stack[from:])
	d.drop(from)
	return &List{items}, d.charge(int64(n+1) * chargeValue)
}

func (d *decoder) markedList() (any, error) {
	items, err := d.popMark()
	if err != nil {
		return nil, err
	}
	return &List{slices.Clone(items)}, d.charge(int64(len(items)+1) * chargeValue)
}

func (d *decoder) markedDict() (any, error) {
	items, err := d.popMark()
	if err != nil {
		return nil, err
	}
	if err := d.charge(chargeDict); err != nil {
		return nil, err
	}
	dict := Dict{}
	return dict, d.set(dict, items)
}

func (d *decoder) appendOne() error {
	v, err := d.pop()
	if err != nil {
		return err
	}
	return d.extend([]any{v})
}

func (d *decoder) appendMarked() error {
	items, err := d.popMark()
	if err != nil {
		return err
	}
	return d.extend(items)
}

// extend appends to the list on top of the stack.
func (d *decoder) extend(items []any) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	list, ok := v.(*List)
	if !ok {
		return fmt.Errorf("%w: no list to append to", ErrBroken)
	}
	if err := d.charge(int64(len(items)) * chargeValue); err != nil {
		return err
	}
	list.Items = append(list.Items, items...)
	return nil
}

func (d *decoder) setOne() error {
	value, err := d.pop()
	if err != nil {
		return err
	}
	key, err := d.pop()
	if err != nil {
		return err
	}
	return d.setTop([]any{key, value})
}

func (d *decoder) setMarked() error {
	items, err := d.popMark()
	if err != nil {
		return err
	}
	return d.setTop(items)
}

// setTop sets items of the dict on top of the stack.
func (d *decoder) setTop(items []any) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	dict, ok := v.(Dict)
	if !ok {
		return fmt.Errorf("%w: no dict to set items of", ErrBroken)
	}
	return d.set(dict, items)
}

// set sets items, each a key and then its value.
func (d *decoder) set(dict Dict, items []any) error {
	if len(items)%2 != 0 {
		return fmt.Errorf("%w: a key without a value", ErrBroken)
	}
	for i := 0; i < len(items); i += 2 {
		if _, unhashable := items[i].(Dict); unhashable {
			return fmt.Errorf("%w: a dict as a key", ErrBroken)
		}
		if err := d.charge(itemCharge(len(dict))); err != nil {
			return err
		}
		dict[items[i]] = items[i+1]
	}
	return nil
}

// itemCharge is what the next item costs a dict that has so many.
func itemCharge(has int) int64 {
	if has < smallDict {
		return chargeValue
	}
	return chargeItem
}
