package pack_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/git/pack"
)

// entry is an object of a pack.
type entry struct {
	kind int
	size int64 // that its header says; -1: the real one
	text string
}

// packed returns a pack of the entries.
func packed(entries ...entry) []byte {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	_ = binary.Write(&b, binary.BigEndian, uint32(len(entries)))
	for _, e := range entries {
		size := e.size
		if size < 0 {
			size = int64(len(e.text))
		}
		first := byte(e.kind<<4) | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			b.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
		}
		b.WriteByte(first)
		z := zlib.NewWriter(&b)
		_, _ = z.Write([]byte(e.text))
		_ = z.Close()
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}

func TestScan(t *testing.T) {
	max := pack.Limits{Objects: 3, Object: 1000, Bytes: 1500}
	long := strings.Repeat("x", 800)
	whole := packed(entry{3, -1, "one"}, entry{2, -1, ""}, entry{1, -1, long})
	for name, c := range map[string]struct {
		pack []byte
		want error
		says string
	}{
		"a pack of whole objects is taken":                  {whole, nil, ""},
		"a pack without objects is taken":                   {packed(), nil, ""},
		"too many objects are refused":                      {packed(entry{3, -1, ""}, entry{3, -1, ""}, entry{3, -1, ""}, entry{3, -1, ""}), pack.ErrLimit, "4 objects, more than the 3 allowed"},
		"a large object is refused":                         {packed(entry{3, -1, strings.Repeat("x", 1001)}), pack.ErrLimit, "an object of 1001 bytes"},
		"objects that are large together are refused":       {packed(entry{3, -1, long}, entry{3, -1, long}), pack.ErrLimit, "more than the 1500 bytes"},
		"a size beyond all numbers is refused":              {packed(entry{3, 1<<62 + 1, ""}), pack.ErrLimit, "2^60"},
		"an object that is longer than it says is refused":  {packed(entry{3, 3, long}), pack.ErrFormat, "does not have the 3 bytes"},
		"an object that is shorter than it says is refused": {packed(entry{3, 900, long}), pack.ErrFormat, "does not have the 900 bytes"},
		"a delta is refused":                                {packed(entry{6, -1, "x"}), pack.ErrFormat, "type 6"},
		"a delta of a named object is refused":              {packed(entry{7, -1, "x"}), pack.ErrFormat, "type 7"},
		"a tag is refused":                                  {packed(entry{4, -1, "x"}), pack.ErrFormat, "type 4"},
		"what is no pack is refused":                        {[]byte("#!/bin/sh\nexit 0\n"), pack.ErrFormat, "does not begin"},
		"a pack that ends early is refused":                 {whole[:len(whole)-30], pack.ErrFormat, ""},
		"nothing is refused":                                {nil, pack.ErrFormat, "ends early"},
		"bytes after the end are refused":                   {append(bytes.Clone(whole), 'x'), pack.ErrFormat, "21 bytes follow"},
		"what is not compressed is refused":                 {append(append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), 0x35), "hello, it is not compressed"...), pack.ErrFormat, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pack.Scan(bytes.NewReader(c.pack), max)
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("err = %v, want %v that says %q", err, c.want, c.says)
			}
		})
	}
	if s, err := pack.Scan(bytes.NewReader(whole), max); err != nil || s != (pack.Stats{Objects: 3, Bytes: 803}) {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAnErrorOfTheReaderIsNotBlamedOnThePack(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := pack.Scan(io.MultiReader(bytes.NewReader(packed(entry{3, -1, "x"})[:12]), failing{broken}), pack.Limits{Objects: 1, Object: 1, Bytes: 1})
	if !errors.Is(err, broken) || errors.Is(err, pack.ErrFormat) {
		t.Errorf("err = %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestAPackThatGitWritesWithoutDeltasIsTaken(t *testing.T) {
	g := gittest.Repo(t)
	for _, text := range []string{"first", "second"} {
		gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", text)
	}
	var out bytes.Buffer
	if err := g.Stream(t.Context(), strings.NewReader("HEAD\n"), &out, "pack-objects", "--revs", "--stdout", "-q", "--window=0", "--no-reuse-delta"); err != nil {
		t.Fatal(err)
	}
	s, err := pack.Scan(&out, pack.Limits{Objects: 10, Object: 1000, Bytes: 10000})
	if err != nil || s.Objects != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}

func FuzzScan(f *testing.F) {
	f.Add(packed(entry{3, -1, "one"}, entry{1, -1, "two"}))
	f.Add(packed(entry{6, 900, "one"}))
	max := pack.Limits{Objects: 10, Object: 1000, Bytes: 5000}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := pack.Scan(bytes.NewReader(b), max)
		if err == nil && (s.Objects > max.Objects || s.Bytes > max.Bytes) {
			t.Errorf("%+v was taken", s)
		}
		if err != nil && !errors.Is(err, pack.ErrFormat) && !errors.Is(err, pack.ErrLimit) {
			t.Errorf("an error without a name: %v", err)
		}
	})
}
