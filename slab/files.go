package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/claim"
	"github.com/bufslab/bufslab/slab/internal/reserve"
)

// claimFiles claims the files that the pool will write, until release is called. It writes none.
func (p *pool) claimFiles() (release func() error, err error) {
	var releases []func()
	release = func() error {
		for _, f := range releases {
			f()
		}
		return nil
	}
	for key, file := range map[string]string{"record": p.config.Record,
		"reserve=learned": reserve.File(p.config.Reserve)} {
		if file == "" {
			continue
		}
		f, err := claim.File(file, p.config.Name)
		if err != nil {
			_ = release()
			return release, &FileError{file, fmt.Errorf("%s of pool %s: %w", key, p.config.Name, err)}
		}
		releases = append(releases, f)
	}
	return release, nil
}
