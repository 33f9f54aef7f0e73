// Package claim gives each file that pools of the process write to one pool at a time: of two that write one
// file nothing could be read.
package claim

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// A TakenError says which pool has a file.
type TakenError struct{ Owner string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("pool %s writes it, and is open: one file a pool", e.Owner)
}

var claims = struct {
	sync.Mutex // leaf
	owners     map[string]string
}{owners: map[string]string{}}

// File claims a file, which need not be there yet, for an owner, until release is called. It fails if the file has an
// owner, with a *TakenError, or if its folder is not there. What is there and no regular file, like a terminal,
// may have several.
func File(path, owner string) (release func(), err error) {
	key, err := keyOf(path)
	if err != nil || key == "" {
		return func() {}, err
	}
	claims.Lock()
	defer claims.Unlock()
	if of, taken := claims.owners[key]; taken {
		return func() {}, &TakenError{of}
	}
	claims.owners[key] = owner
	return func() {
		claims.Lock()
		defer claims.Unlock()
		delete(claims.owners, key)
	}, nil
}

// keyOf returns the one name of a file, whatever links lead to it, or "" of what is no regular file.
func keyOf(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(whole); err == nil {
		return real, nil
	}
	if _, err := os.Stat(filepath.Dir(whole)); err != nil {
		return "", err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(whole))
	return filepath.Join(folder, filepath.Base(whole)), err
}
