package alloclog

import "encoding/json"

type umpireArgs struct {
	Reference string `json:"allocator_ref"`
	Pointer   string `json:"pointer"`
	Old       string `json:"current_ptr"`
	New       string `json:"new_ptr"`
}

// second parses a line of the second generation. A call stands there once, when it is
// done, but reallocate before and after.
func (u *umpire) second(l *umpireLine) (e Event, err error) {
	if l.Category != "operation" {
		return e, nil
	}
	p := fieldParser{}
	var args umpireArgs
	var numbers struct {
		Size json.RawMessage `json:"size"`
	}
	switch l.Name {
	case "make_memory_resource", "make_allocator":
		var tags struct {
			Name string `json:"allocator_name"`
		}
		p.decode(l.Strings, &args)
		p.decode(l.Tags, &tags)
		return e, u.learn(&p, allocator{reference: args.Reference}, tags.Name)
	case "allocate", "named_allocate", "allocate_resource":
		e.Kind = Alloc
	case "deallocate", "deallocate_resource":
		e.Kind = Free
	case "reallocate":
		e.Kind = Realloc
	default:
		return e, nil
	}
	p.decode(l.Strings, &args)
	p.decode(l.Numbers, &numbers)
	e.Pool = u.pool(&p, allocator{reference: args.Reference})
	e.Pointer = p.number("pointer", args.Pointer, 0)
	e.Size = -1
	switch e.Kind {
	case Realloc:
		return u.resize(e, args, string(numbers.Size), &p), p.err
	case Alloc:
		e.Size = p.size(string(numbers.Size))
	}
	return e.checkNull(), p.err
}

// resize joins the two lines of a reallocation: the first has the old pointer and the size,
// the second the new pointer. Both name the allocator.
func (u *umpire) resize(e Event, args umpireArgs, size string, p *fieldParser) Event {
	a := allocator{reference: args.Reference}
	if args.New == "" && p.err == nil {
		e.Old = p.number("current_ptr", args.Old, 0)
		e.Size = p.size(size)
		if len(u.resizing) < maxAllocators {
			u.resizing[a] = e
		}
		return Event{}
	}
	begun, ok := u.resizing[a]
	if !ok {
		return Event{Kind: Skipped}
	}
	delete(u.resizing, a)
	begun.Pointer = p.number("new_ptr", args.New, 0)
	return begun.checkNull()
}
