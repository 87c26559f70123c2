package confine

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// buildCache answers the go command as its GOCACHEPROG. It reads from a directory in the format
// of GOCACHE that nobody here may write to, and writes to one of its own. So a step need not
// compile the standard library, and leaves nothing where others read.
//
// The protocol is that of cmd/go/internal/cacheprog; an object of base64 follows
// each put, as a line of its own.
type buildCache struct {
	readable []string
	writable string
}

type cacheRequest struct {
	ID       int64
	Command  string
	ActionID []byte `json:",omitempty"`
	OutputID []byte `json:",omitempty"`
	ObjectID []byte `json:",omitempty"` // before Go 1.24
	BodySize int64  `json:",omitempty"`
}

type cacheResponse struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// serveCache answers requests until the go command is done, and returns the exit
// code.
func serveCache(args []string) int {
	if len(args) != 2 {
		return failed(errors.New("want directories to read, and one to write"))
	}
	cache := buildCache{filepath.SplitList(args[0]), args[1]}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	send := func(r cacheResponse) error {
		if err := encoder.Encode(r); err != nil {
			return err
		}
		return out.Flush()
	}
	if err := send(cacheResponse{KnownCommands: []string{"get", "put", "close"}}); err != nil {
		return failed(err)
	}
	for {
		request, body, err := readRequest(in)
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			return failed(err)
		}
		answer := cache.answer(request, body)
		if err := send(answer); err != nil {
			return failed(err)
		}
		if request.Command == "close" {
			return 0
		}
	}
}

func readRequest(in *bufio.Reader) (r cacheRequest, body []byte, err error) {
	line, err := readLine(in)
	if err != nil {
		return r, nil, err
	}
	if err = json.Unmarshal(line, &r); err != nil {
		return r, nil, err
	}
	if r.Command != "put" || r.BodySize == 0 {
		return r, nil, nil
	}
	if line, err = readLine(in); err != nil {
		return r, nil, err
	}
	body, err = base64.StdEncoding.DecodeString(strings.Trim(string(line), `"`))
	return r, body, err
}

// readLine returns the next line that is not empty.
func readLine(in *bufio.Reader) ([]byte, error) {
	for {
		line, err := in.ReadBytes('\n')
		if line = []byte(strings.TrimSpace(string(line))); len(line) > 0 || err != nil {
			if len(line) > 0 {
				err = nil
			}
			return line, err
		}
	}
}

func (c buildCache) answer(r cacheRequest, body []byte) cacheResponse {
	switch r.Command {
	case "get":
		for _, dir := range append([]string{c.writable}, c.readable...) {
			if found, ok := entry(dir, r.ActionID); ok {
				found.ID = r.ID
				return found
			}
		}
		return cacheResponse{ID: r.ID, Miss: true}
	case "put":
		path, err := c.put(r, body)
		if err != nil {
			return cacheResponse{ID: r.ID, Err: err.Error()}
		}
		return cacheResponse{ID: r.ID, DiskPath: path}
	}
	return cacheResponse{ID: r.ID}
}

// entry reads the entry of an action in a directory as the go command writes it:
// "v1 ACTION OUTPUT SIZE TIME".
func entry(dir string, action []byte) (cacheResponse, bool) {
	name := hex.EncodeToString(action)
	if len(name) < 2 {
		return cacheResponse{}, false
	}
	text, err := os.ReadFile(filepath.Join(dir, name[:2], name+"-a"))
	if err != nil {
		return cacheResponse{}, false
	}
	fields := strings.Fields(string(text))
	if len(fields) != 5 || fields[0] != "v1" || fields[1] != name {
		return cacheResponse{}, false
	}
	output, err := hex.DecodeString(fields[2])
	size, err2 := strconv.ParseInt(fields[3], 10, 64)
	nanos, err3 := strconv.ParseInt(fields[4], 10, 64)
	if errors.Join(err, err2, err3) != nil || len(output) == 0 {
		return cacheResponse{}, false
	}
	path := filepath.Join(dir, fields[2][:2], fields[2]+"-d")
	if info, err := os.Stat(path); err != nil || info.Size() != size {
		return cacheResponse{}, false
	}
	at := time.Unix(0, nanos)
	return cacheResponse{OutputID: output, Size: size, Time: &at, DiskPath: path}, true
}

// put writes an output, and the entry that names it. It returns the output's path.
func (c buildCache) put(r cacheRequest, body []byte) (string, error) {
	if len(r.OutputID) == 0 {
		r.OutputID = r.ObjectID
	}
	if len(r.OutputID) == 0 || len(r.ActionID) == 0 || int64(len(body)) != r.BodySize {
		return "", errors.New("a put without its ids or its body")
	}
	output, action := hex.EncodeToString(r.OutputID), hex.EncodeToString(r.ActionID)
	path := filepath.Join(c.writable, output[:2], output+"-d")
	if info, err := os.Stat(path); err != nil || info.Size() != r.BodySize {
		if err := replace(path, body); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf("v1 %s %s %20d %20d\n", action, output, r.BodySize, time.Now().UnixNano())
	return path, replace(filepath.Join(c.writable, action[:2], action+"-a"), []byte(text))
}

// replace writes a file whole or not at all.
func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
