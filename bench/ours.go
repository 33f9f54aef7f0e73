package main

import "github.com/bufslab/bufslab/slab"

// bufslab is a pool of ours, opened as a user would: by a line of configuration.
type bufslab struct{ p *slab.Pool }

func ours(name, line string) contender {
	return contend(name, func() pool[slab.PooledBuffer] { return &bufslab{open(line, nil)} })
}

func open(line string, hooks *slab.Hooks) *slab.Pool {
	config, err := slab.ParseConfig(line)
	if err != nil {
		panic(err)
	}
	config.Hooks = hooks
	p, err := slab.OpenConfig(config)
	if err != nil {
		panic(err)
	}
	return p
}

func (s *bufslab) get(n int) (slab.PooledBuffer, []byte) {
	b, err := s.p.Get(n)
	if err != nil {
		panic(err)
	}
	return b, b.Bytes()
}

func (s *bufslab) put(b slab.PooledBuffer) {
	if err := b.Release(); err != nil {
		panic(err)
	}
}

func (s *bufslab) Close() error { return s.p.Close() }
