// Package pack reads a pack of git whose writer is not trusted, before git does.
//
// A pack of a few kilobytes may hold objects of gigabytes, and deltas that take hours. So a pack
// is taken only if its objects are whole (no deltas), of few kinds, and within limits of number
// and size.
package pack

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrLimit means that a pack holds more than it may, or grows longer than it may.
var ErrLimit = errors.New("the pack holds too much")

// ErrFormat means that the bytes are no pack of whole commits, trees and files.
var ErrFormat = errors.New("the pack is malformed")

// Limits bound a pack. All are needed.
type Limits struct {
	Objects int   // how many
	Object  int64 // bytes of one object, as it is without compression
	Bytes   int64 // bytes of all objects together, as they are without compression
}

// Stats count what a pack holds.
type Stats struct {
	Objects int
	Bytes   int64 // without compression
}

// The types of objects that a pack may hold. Tags and deltas are refused.
const (
	commit = 1
	tree   = 2
	blob   = 3
)

// trailer is the length of the checksum at the end of a pack, which git verifies.
const trailer = 20

// Scan reads a pack to its end and counts its objects. It reads no more than the limits permit.
// The error is ErrLimit, ErrFormat, or one of r.
func Scan(r io.Reader, max Limits) (Stats, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var header [12]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return Stats{}, short(err)
	}
	if !bytes.Equal(header[:8], []byte("PACK\x00\x00\x00\x02")) {
		return Stats{}, fmt.Errorf("%w: it does not begin as a pack of version 2", ErrFormat)
	}
	n := binary.BigEndian.Uint32(header[8:])
	if int64(n) > int64(max.Objects) {
		return Stats{}, fmt.Errorf("%w: %d objects, more than the %d allowed", ErrLimit, n, max.Objects)
	}
	s := Stats{Objects: int(n)}
	var content io.ReadCloser
	for range n {
		size, err := object(in)
		if err != nil {
			return s, err
		}
		if size > max.Object {
			return s, fmt.Errorf("%w: an object of %d bytes, more than the %d allowed", ErrLimit, size, max.Object)
		}
		if s.Bytes += size; s.Bytes > max.Bytes {
			return s, fmt.Errorf("%w: more than the %d bytes allowed", ErrLimit, max.Bytes)
		}
		if content == nil {
			content, err = zlib.NewReader(in)
		} else {
			err = content.(zlib.Resetter).Reset(in, nil)
		}
		if err != nil {
			return s, short(err)
		}
		if err := inflate(content, size); err != nil {
			return s, err
		}
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(in, trailer+1))
	if err == nil && rest != trailer {
		err = fmt.Errorf("%w: %d bytes follow the last object, want %d", ErrFormat, rest, trailer)
	}
	return s, err
}

// object reads the header of an object and returns its size.
func object(in *bufio.Reader) (int64, error) {
	b, err := in.ReadByte()
	if err != nil {
		return 0, short(err)
	}
	kind, size := b>>4&7, int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = in.ReadByte(); err != nil {
			return 0, short(err)
		}
		if shift > 53 {
			return 0, fmt.Errorf("%w: an object of more than 2^60 bytes", ErrLimit)
		}
		size |= int64(b&0x7f) << shift
	}
	switch kind {
	case commit, tree, blob:
		return size, nil
	}
	return 0, fmt.Errorf("%w: an object of type %d: only whole commits, trees and files are taken", ErrFormat, kind)
}

// inflate reads an object, which has to be of the size that its header says.
func inflate(content io.Reader, size int64) error {
	n, err := io.Copy(io.Discard, io.LimitReader(content, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%w: an object does not have the %d bytes that its header states", ErrFormat, size)
	}
	if err != nil {
		return short(err)
	}
	return nil
}

// short returns an ErrFormat for a pack that ends early or is not compressed.
func short(err error) error {
	switch {
	case errors.Is(err, ErrFormat):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends early", ErrFormat)
	case errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrDictionary), errors.As(err, new(flate.CorruptInputError)):
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}
