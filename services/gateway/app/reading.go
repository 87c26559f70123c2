package app

import (
	"bytes"
	"encoding/json"
	"hash"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// places are the deliveries that are being read. Nobody is known before a delivery is read
// whole, so one address gets a part of the places only. The zero places are all free.
type places struct {
	mu    sync.Mutex
	taken int
	by    map[string]int
}

// take takes a place for a delivery from an address. It returns false if none is free.
func (p *places) take(from string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= maxReading || p.by[from] >= maxFrom {
		return false
	}
	if p.by == nil {
		p.by = map[string]int{}
	}
	p.taken++
	p.by[from]++
	return true
}

func (p *places) free(from string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[from]--; p.by[from] == 0 {
		delete(p.by, from)
	}
}

// address returns the address of a peer without its port, of IPv6 the network: one host
// has many addresses there.
func address(peer string) string {
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		return peer
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip = ip.Unmap(); ip.Is6() {
		const network = 64 // bits
		if prefix, err := ip.WithZone("").Prefix(network); err == nil {
			return prefix.String()
		}
	}
	return ip.String()
}

// readBody reads a delivery, and writes it to the macs as it comes. It returns the delivery,
// or where that is longer its first maxKept bytes and one more. A delivery that
// comes slowly is given up: its first KiB within a second, each further part, too.
func readBody(rw http.ResponseWriter, r *http.Request, macs []hash.Hash) ([]byte, error) {
	control, end := http.NewResponseController(rw), time.Now().Add(deliveryRead)
	var body beginning
	to := []io.Writer{&body}
	for _, mac := range macs {
		to = append(to, mac)
	}
	from, all := http.MaxBytesReader(rw, r.Body, maxDelivery), io.MultiWriter(to...)
	for size := int64(firstPart); ; size = part {
		until := time.Now().Add(deliveryPart)
		if until.After(end) {
			until = end
		}
		_ = control.SetReadDeadline(until) // a test's recorder has none
		if _, err := io.CopyN(all, from, size); err == io.EOF {
			_ = control.SetReadDeadline(end)
			return body.bytes, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// beginning is a writer that keeps the first maxKept bytes, and one more if there are any.
type beginning struct{ bytes []byte }

func (b *beginning) Write(p []byte) (int, error) {
	b.bytes = append(b.bytes, p[:min(len(p), maxKept+1-len(b.bytes))]...)
	return len(p), nil
}

// outline returns a JSON object of the members that are whole in the beginning of one, and
// whether the repository is among them. A push of many commits names it before those.
func outline(start []byte) ([]byte, bool) {
	d := json.NewDecoder(bytes.NewReader(start))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		name, isName := key.(string)
		var value json.RawMessage
		if err != nil || !isName || d.Decode(&value) != nil {
			break
		}
		members[name] = value
	}
	whole, err := json.Marshal(members)
	return whole, err == nil && members["repository"] != nil
}
