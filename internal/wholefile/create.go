package wholefile

import "os"

// Create makes a file as os.Create does, for writing alone. So a Write to a pipe whose reader has gone fails: opened
// for both, the pipe would have a reader in its writer, and the Write would wait for ever.
func Create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
}
