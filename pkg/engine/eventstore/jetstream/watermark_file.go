package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// fileWatermark keeps the watermark in the file of this name.
type fileWatermark string

func (k fileWatermark) String() string { return string(k) }

func (k fileWatermark) load(context.Context) (watermark, error) {
	data, err := os.ReadFile(string(k))
	if errors.Is(err, fs.ErrNotExist) {
		return watermark{}, nil
	}
	if err != nil {
		return watermark{}, err
	}
	var w watermark
	return w, json.Unmarshal(data, &w)
}

// save replaces the file in one step: a crash leaves the old one or the new one.
func (k fileWatermark) save(_ context.Context, w watermark) error {
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(string(k)), filepath.Base(string(k))+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), string(k))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
