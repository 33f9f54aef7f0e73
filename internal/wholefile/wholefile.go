// Package wholefile writes files that are there as a whole, or not at all.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace has write make a file, by the path that it is given, and puts it in the place of the
// one at path. If write fails, what was there is as before. So write may read it meanwhile. The
// name is the same in another folder, also where path is a link; the link stays. What is no file, as
// a device or a pipe, is written to as it is.
func Replace(path string, write func(path string) error) (err error) {
	old, err := os.Stat(path)
	if err == nil && !old.Mode().IsRegular() {
		return write(path)
	}
	name := filepath.Base(path)
	if path, err = target(path); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".part-")
	if at := (*os.PathError)(nil); errors.As(err, &at) {
		return &os.PathError{Op: "create", Path: path, Err: at.Err} // the caller knows of no other file
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	part := filepath.Join(dir, name)
	if err := write(part); err != nil {
		return err
	}
	if old != nil {
		if err := os.Chmod(part, old.Mode().Perm()); err != nil {
			return err
		}
	}
	return os.Rename(part, path)
}

// target follows links, also one to what is not there yet.
func target(path string) (string, error) {
	for range mostLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to // not cleaned: the folder may be a link
		}
		path = to
	}
	return path, &os.PathError{Op: "create", Path: path, Err: errors.New("too many links")}
}

// mostLinks is how many links one path may lead over, as in Linux.
const mostLinks = 40
