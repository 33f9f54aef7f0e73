package main

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
)

const (
	cacheBytes  = 48 << 20 // of each of two shards
	blocksKnown = 6000     // in the file behind a shard
	lookups     = 150      // of an operation
	blockLeast  = 2 << 10
	blockMost   = 96 << 10
)

// A shard is a part of a storage engine's cache of blocks, which are as long as what they have
// been compressed from: no two alike.
type shard struct {
	j      *job
	r      *rand.Rand
	blocks map[uint64]block
	order  []uint64 // of those in it, in no order
	bytes  int
}

// blockCache looks up blocks, some far more often than others, and reads those that it lacks.
func blockCache(j *job) error {
	return j.clients(2, func(c *client) (op, end func() error, err error) {
		s := &shard{j: j, r: c.Rand, blocks: map[uint64]block{}}
		popular := rand.NewZipf(c.Rand, 1.05, 40, blocksKnown-1)
		return func() error {
			for range lookups {
				if err := s.lookup(popular.Uint64()); err != nil {
					return err
				}
			}
			return nil
		}, s.drop, nil
	})
}

func (s *shard) lookup(id uint64) error {
	b, ok := s.blocks[id]
	if !ok {
		var err error
		if b, err = s.read(id); err != nil {
			return err
		}
	}
	first, last := binary.LittleEndian.Uint64(b.bytes), binary.LittleEndian.Uint64(b.bytes[len(b.bytes)-8:])
	if first != id || last != id {
		return wrong([2]uint64{first, last}, id)
	}
	return nil
}

// read makes room for a block, and fills it.
func (s *shard) read(id uint64) (block, error) {
	n := blockLeast + int(id*2654435761%(blockMost-blockLeast))
	for s.bytes+n > cacheBytes {
		if err := s.evict(s.r.IntN(len(s.order))); err != nil {
			return block{}, err
		}
	}
	b, err := s.j.get(n)
	if err != nil {
		return block{}, err
	}
	copy(b.bytes, some(noise(), s.r, n))
	binary.LittleEndian.PutUint64(b.bytes, id)
	binary.LittleEndian.PutUint64(b.bytes[n-8:], id)
	s.blocks[id], s.order, s.bytes = b, append(s.order, id), s.bytes+n
	return b, nil
}

func (s *shard) evict(i int) error {
	id, last := s.order[i], len(s.order)-1
	b := s.blocks[id]
	s.order[i], s.order = s.order[last], s.order[:last]
	s.bytes -= len(b.bytes)
	delete(s.blocks, id)
	return s.j.put(b)
}

// drop gives all blocks back.
func (s *shard) drop() (err error) {
	for len(s.order) > 0 {
		err = errors.Join(err, s.evict(len(s.order)-1))
	}
	return err
}
