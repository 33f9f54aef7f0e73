package vet_test

// What programs of the examples have more than once, and mistakes replace.
const (
	echoOnce = `		_, err = c.Write(b.Bytes())
		if err := errors.Join(err, b.Release()); err != nil {
			return err
		}
	}
}

func withPooled`
	servePooled = `	b, err := p.Get(bufferBytes)
	if err != nil {
		return err
	}
	return errors.Join(answerWith(c, b.Bytes()), b.Release())`
	getsPooled = `	b, err := p.Get(bufferBytes)
	if err != nil {
		return err
	}
`
	sendBoth = `	defer src.Release()
	dst, err := pool.GetOn(n, l.stream)
	if err != nil {
		return err
	}
	defer dst.Release()
	return l.enqueue(i, src.Block(), dst.Block())`
	growField = `		s.all, err = s.all.Grow(s.all.Len() + n)
	}
	return s.all.Bytes(), err`
	growsOrGets = `	if s.all.Len() == 0 {
		s.all, err = s.pool.Get(n)
	} else {
		s.all, err = s.all.Grow(s.all.Len() + n)
	}
	return s.all.Bytes(), err`
)

// seeds are the mistakes.
var seeds = []seed{
	// Forgotten on the path of an error of something else.
	{mistake: "a Write that fails returns without Release", program: "edge", edits: []string{echoOnce, `
		if _, err = c.Write(b.Bytes()); err != nil {
			return err
		}
		if err := b.Release(); err != nil {
			return err
		}
	}
}

func withPooled`}, says: "not released on the way to the return on line"},
	{mistake: "the second Get fails, and the first buffer is forgotten", program: "batches", edits: []string{sendBoth, `
	dst, err := pool.GetOn(n, l.stream)
	if err != nil {
		return err
	}
	defer src.Release()
	defer dst.Release()
	return l.enqueue(i, src.Block(), dst.Block())`}, says: "not released on the way to the return on line"},
	{mistake: "an array goes back at the end only", program: "unified", edits: []string{
		"			defer b.Release()\n", "",
		"			result, err := b.ToSlice()\n", "			result, err := b.ToSlice()\n			_ = b.Release()\n",
	}, says: "not released on the way to the return on line"},

	// Forgotten on an early return, or in the next round.
	{mistake: "an early return before the defer", program: "edge", edits: []string{servePooled, getsPooled + `
	if err := c.SetNoDelay(true); err != nil {
		return err
	}
	defer b.Release()
	return answerWith(c, b.Bytes())`}, says: "not released on the way to the return on line"},
	{mistake: "continue leaves a buffer", program: "edge", edits: []string{echoOnce, `
		if b.Len() == 0 {
			continue
		}
` + echoOnce}, says: "not released on the way to the next round of the loop"},
	{mistake: "continue leaves a lease", program: "growpool", edits: []string{
		"		_ = s.Fill(l.Block(), byte(i))\n", `		if err := s.Fill(l.Block(), byte(i)); err != nil {
			fmt.Println(err)
			continue
		}
`}, says: "not released on the way to the next round of the loop"},

	// Never released.
	{mistake: "no Release of a buffer", program: "edge", edits: []string{servePooled, getsPooled +
		`	return answerWith(c, b.Bytes())`}, says: "is never released"},
	{mistake: "no Release of a buffer for a stream", program: "batches", edits: []string{
		"	defer dst.Release()\n", ""}, says: "is never released"},
	{mistake: "no Release of a lease", program: "growpool", edits: []string{
		"			defer scratch.Release()\n", ""}, says: "is never released"},
	{mistake: "no Release of a Buffer", program: "iobuf", edits: []string{`	defer b.Release()
	if err := json`, `	if err := json`}, says: "is never released"},
	{mistake: "no Release of what Detach gave", program: "iobuf", edits: []string{
		"	fmt.Println(x.Release())\n", ""}, says: "is never released"},
	{mistake: "no Close of a Body", program: "iobuf", edits: []string{
		"	body.Close()\n	body.Close() // does no harm\n", ""}, says: "Body of Body is never released, returned or passed on: defer its Close behind the check of the error"},
	{mistake: "no Release of an Arena", program: "arena", edits: []string{"	defer a.Release()\n", ""}, says: "is never released"},
	{mistake: "no Release in the README's program", program: "readme", edits: []string{
		"	fmt.Println(b.Release())\n	fmt.Println(b.Release()) // is caught\n", ""}, says: "is never released"},
	{mistake: "no Put of a slice", program: "edge", edits: []string{servePooled, `	m, err := p.GetBytes(bufferBytes)
	if err != nil {
		return err
	}
	return answerWith(c, m)`}, says: "is never released"},

	// Overwritten in a loop.
	{mistake: "the last buffer is released, and all before it are overwritten", program: "batches", edits: []string{
		"	for i, n := range sizes {\n		l := lanes[i%streams]\n", `	var staging slab.PooledBuffer
	for i, n := range sizes {
		l := lanes[i%streams]
		if staging, err = pool.Get(n); err != nil {
			return err
		}
		clear(staging.Bytes())
`,
		"	for _, l := range lanes {\n		err =", "	err = staging.Release()\n	for _, l := range lanes {\n		err =",
	}, says: "and the next round of the loop"},
	{mistake: "a deferred literal releases the last buffer of a loop", program: "edge", edits: []string{
		`	for {
		b, err := iobuf.ReadReady`, `	var b slab.PooledBuffer
	defer func() { b.Release() }()
	for {
		var err error
		b, err = iobuf.ReadReady`,
		echoOnce, `		if _, err = c.Write(b.Bytes()); err != nil {
			return err
		}
	}
}

func withPooled`}, says: "not released on the way to the next round of the loop"},
	{mistake: "growing by hand loses what was there", program: "kvcache", edits: []string{growsOrGets, `	longer, err := s.pool.Get(s.all.Len() + n)
	if err != nil {
		return nil, err
	}
	copy(longer.Bytes(), s.all.Bytes())
	s.all = longer
	return s.all.Bytes(), nil`}, missed: "the buffer that is lost is in a field"},

	// A defer in a loop.
	{mistake: "defer in a loop that reads", program: "edge", edits: []string{echoOnce, `		defer b.Release()
		if _, err = c.Write(b.Bytes()); err != nil {
			return err
		}
	}
}

func withPooled`}, says: "deferred in a loop, and runs when the function returns"},
	{mistake: "defer in a loop of batches", program: "growpool", edits: []string{
		"		_ = l.Release() // the work is enqueued, not done\n", "		defer l.Release()\n"},
		says: "deferred in a loop, and runs when the function returns"},

	// Released twice.
	{mistake: "Release on an error, and by defer", program: "edge", edits: []string{servePooled, getsPooled + `
	defer b.Release()
	if err := answerWith(c, b.Bytes()); err != nil {
		b.Release()
		return err
	}
	return nil`}, says: "released here and again by the Release deferred on line"},
	{mistake: "Put twice", program: "edge", edits: []string{servePooled, `	m, err := p.GetBytes(bufferBytes)
	if err != nil {
		return err
	}
	defer p.Put(m)
	err = answerWith(c, m)
	p.Put(m)
	return err`}, says: "released here and again by the Put deferred on line"},
	{mistake: "a lease is released twice", program: "growpool", edits: []string{
		"		_ = l.Release() // the work is enqueued, not done\n", `		_ = l.Release()
		if i == len(results)-1 {
			_ = s.Sync()
		}
		_ = l.Release()
`}, says: "released again after Release on line"},

	// Used after the Release.
	{mistake: "a Write after Release", program: "edge", edits: []string{echoOnce, `		err = b.Release()
		if _, err := c.Write(b.Bytes()); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
}

func withPooled`}, says: "is used after its Release on line"},
	{mistake: "blocks are enqueued after Release", program: "batches", edits: []string{sendBoth, `	dst, err := pool.GetOn(n, l.stream)
	if err != nil {
		return errors.Join(err, src.Release())
	}
	from, to := src.Block(), dst.Block()
	if err := errors.Join(src.Release(), dst.Release()); err != nil {
		return err
	}
	return l.enqueue(i, from, to)`}, says: "is used after its Release on line"},
	{mistake: "the elements of a lease after Release", program: "growpool", edits: []string{
		"			defer scratch.Release()\n			for i := range", "			scratch.Release()\n			for i := range"},
		says: "is used after its Release on line"},
	{mistake: "an array is read after Free", program: "unified", edits: []string{
		"	defer b.Free()\n	m, _ := b.HostMut()", "	m, _ := b.HostMut()",
		"	m, _ = b.Host() // and back\n", "	m, _ = b.Host() // and back\n	b.Free()\n",
	}, says: "is used after its Free on line"},
	{mistake: "what a Buffer has is printed after Release", program: "iobuf", edits: []string{`	defer b.Release()
	if err := json`, `	if err := json`, "	b.WriteTo(os.Stdout)\n", "	text := b.Bytes()\n	b.Release()\n	os.Stdout.Write(text)\n"},
		says: "slice of the Buffer is used after its Release on line"},
	{mistake: "a word of an Arena after Reset", program: "arena", edits: []string{
		"		fmt.Printf(\"%s: %d e", "		a.Reset()\n		fmt.Printf(\"%s: %d e",
		"\n		a.Reset()\n	}", "\n	}"}, says: "slice of the Arena is used after its Reset on line"},
	{mistake: "elements of typed memory after Release", program: "slab", edits: []string{
		"	fmt.Println(s.Len(), s.Slice()[999], err)\n	fmt.Println(s.Release())\n",
		"	all := s.Slice()\n	fmt.Println(s.Release())\n	fmt.Println(s.Len(), all[999], err)\n"},
		says: "is used after its Release on line"},
	{mistake: "a slice after Put", program: "slab", edits: []string{
		"	fmt.Println(p.Put(m)) // a second time\n", "	fmt.Println(string(m))\n"}, says: "byte slice is used after its Put on line"},
	{mistake: "the old handle after Grow", program: "slab", edits: []string{
		"string(grown.Bytes()[:5])", "string(b.Bytes()[:5])"}, says: "handle is stale: Grow on line"},
	{mistake: "the old handle after Grow, in a field", program: "kvcache", edits: []string{growField, `		_, err = s.all.Grow(s.all.Len() + n)
	}
	return s.all.Bytes(), err`}, says: "result of Grow is dropped, and the handle that it replaces is stale"},

	// A slice that is cut before the Release, and used after it.
	{mistake: "a field of a message after Release", program: "slab", edits: []string{
		"	message.Release()\n\n	for _, f", "	from := message.Bytes()[5:8]\n	message.Release()\n	fmt.Println(string(from))\n	for _, f"},
		says: "slice of the buffer is used after its Release on line"},
	{mistake: "the README's text after Release", program: "readme", edits: []string{
		"	n := copy(b.Bytes(), \"hello, memory that comes back\")\n", "	text := b.Bytes()\n	text = text[:copy(text, \"hello\")]\n	b.Release()\n",
		"b.Bytes()[:n], n, b.Len())\n	fmt.Println(b.Release())\n	fmt.Println(b.Release()) // is caught\n", "text, len(text), b.Len())\n",
	}, says: "slice of the buffer is used after its Release on line"},

	// A slice without its handle.
	{mistake: "a helper returns Bytes", program: "edge", edits: []string{servePooled, `	m, err := buffer(p)
	if err != nil {
		return err
	}
	return answerWith(c, m)
}

func buffer(p *slab.Pool) ([]byte, error) {
	b, err := p.Get(bufferBytes)
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil`}, says: "slice of the buffer is kept, and the buffer is not"},
	{mistake: "Bytes in a field", program: "kvcache", edits: []string{
		"	all  slab.PooledBuffer", "	all  []byte", growsOrGets, `	longer, err := s.pool.Get(len(s.all) + n)
	if err != nil {
		return nil, err
	}
	copy(longer.Bytes(), s.all)
	s.all = longer.Bytes()
	return s.all, nil`, "func (s *grown) release() error { return s.all.Release() }", "func (s *grown) release() error { return nil }",
	}, says: "slice of the buffer is kept, and the buffer is not"},
	{mistake: "Bytes in a goroutine", program: "edge", edits: []string{servePooled, getsPooled + `	go answerWith(c, b.Bytes())
	return nil`}, says: "slice of the buffer is kept, and the buffer is not"},
	{mistake: "Bytes in a goroutine, and Release", program: "edge", edits: []string{servePooled, getsPooled + `	defer b.Release()
	go answerWith(c, b.Bytes())
	return nil`}, says: "slice of the buffer is used by a goroutine, and outlives the Release on line"},
	{mistake: "Bytes in a closure", program: "edge", edits: []string{servePooled, `	next, err := reader(c, p)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = next()
	}
	return err
}

func reader(c *net.TCPConn, p *slab.Pool) (func() (int, error), error) {
	b, err := p.Get(bufferBytes)
	if err != nil {
		return nil, err
	}
	m := b.Bytes()
	return func() (int, error) { return c.Read(m) }, nil`}, says: "slice of the buffer is kept, and the buffer is not"},
	{mistake: "Bytes on a channel", program: "edge", edits: []string{servePooled, `	all := make(chan []byte, 1)
	go func() {
		for m := range all {
			answerWith(c, m)
		}
	}()
	return sendTo(all, p)
}

func sendTo(all chan []byte, p *slab.Pool) error {
	defer close(all)
	b, err := p.Get(bufferBytes)
	if err != nil {
		return err
	}
	all <- b.Bytes()
	return nil`}, says: "slice of the buffer is kept, and the buffer is not"},
	{mistake: "what With lends is kept", program: "slab", edits: []string{"	b, _ := p.Get(3)\n", "	b, _ := p.Get(3)\n	var kept []byte\n",
		"		b.Release()\n		copy(m, \"abc\")\n		fmt.Println(string(m))\n	})\n", "		copy(m, \"abc\")\n		kept = m\n	})\n	fmt.Println(string(kept))\n"},
		says: "slice is kept in a variable, and With ends when its function returns"},
	{mistake: "what a lease has is kept beyond With", program: "growpool", edits: []string{
		"	norm := 0.0\n", "	var all []float64\n",
		"		for _, x := range l.Slice() {\n			norm += x * x\n		}\n", "		all = l.Slice()\n",
		"	fmt.Println(err, norm)\n", "	fmt.Println(err, all)\n"}, says: "slice is kept in a variable, and With ends when its function returns"},
	{mistake: "what the host has of an array is kept", program: "unified", edits: []string{"b.ToSlice()\n			results", "b.Host()\n			results"},
		says: "slice of the buffer is put into a list that is kept, and outlives the Release"},

	// An append to a slice of GetBytes.
	{mistake: "append outgrows the slice of GetBytes", program: "edge", edits: []string{servePooled, `	m, err := p.GetBytes(bufferBytes)
	if err != nil {
		return err
	}
	m = append(m, "bye"...)
	return errors.Join(answerWith(c, m), p.Put(m))`}, says: "append outgrows the slice of GetBytes"},

	// An error that is not looked at.
	{mistake: "the error of Get is ignored", program: "readme", edits: []string{"	b, err := pool.Get(1 << 20)\n	if err != nil {\n		log.Fatal(err)\n	}\n",
		"	b, _ := pool.Get(1 << 20)\n	log.Print(b.Len())\n"}, says: "error of Get is ignored"},
}
