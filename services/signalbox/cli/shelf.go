package cli

import (
	"os"
	"sync"
)

// shelf is a whatif.Shelf in a temporary file.
type shelf struct {
	file *os.File
	mu   sync.Mutex
	end  int64
}

// newShelf makes the file.
func newShelf() (*shelf, error) {
	file, err := os.CreateTemp("", "signalbox-")
	return &shelf{file: file}, err
}

// Put implements whatif.Shelf.
func (s *shelf) Put(data []byte) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.end
	_, err := s.file.WriteAt(data, at)
	s.end += int64(len(data))
	return at, err
}

// Get implements whatif.Shelf.
func (s *shelf) Get(at int64, size int) ([]byte, error) {
	data := make([]byte, size)
	_, err := s.file.ReadAt(data, at)
	return data, err
}

// remove removes the file. The system removes it, too, when it cleans its directory of temporary files.
func (s *shelf) remove() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}
