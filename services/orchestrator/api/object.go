package api

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Objects is where objects are stored.
type Objects interface {
	// Stat returns size and SHA-256 of an object, or ErrNoObject.
	Stat(ctx context.Context, name string) (size uint64, sha256 string, err error)
	// Open opens an object, which is read within ctx, or returns ErrNoObject.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Upload begins an object.
	Upload(name string) Upload
}

// Upload is an object that is stored part by part.
type Upload interface {
	Append(ctx context.Context, part []byte) error
	// End makes the object available, if it has the hash in hexadecimal, else it is ErrOtherContent.
	End(ctx context.Context, sha256 string) error
	Abort(ctx context.Context) error
}

var (
	// ErrNoObject means that there is no object of a name.
	ErrNoObject = errors.New("no such object")
	// ErrOtherContent means that what was uploaded does not have its hash.
	ErrOtherContent = errors.New("the content has another hash")
)

// CodeUnknownObject refuses an object that is not there, or that is not the asker's to read: which of the
// two is not said.
const CodeUnknownObject = "unknown_object"

// Limits of objects. A claim's are for each time that work is claimed.
const (
	maxPart         = 512 << 10 // bytes of an object in one message
	maxObject       = 1 << 30   // bytes of an object
	maxClaimBytes   = 2 << 30   // bytes that are put under one claim
	maxClaimObjects = 256       // objects that are put under one claim
	maxTransfers    = 128       // objects that are read or put at a time
	idleTransfer    = time.Minute
	objectWorkers   = 8 // requests for objects that are handled at a time, apart from all others
)

// objectEndpoints are handled by workers of their own: large objects keep no command waiting.
func (s *Server) objectEndpoints() []endpoint {
	get := func(no *pb.Refusal) proto.Message { return &pb.GetObjectReply{Refusal: no} }
	put := func(no *pb.Refusal) proto.Message { return &pb.PutObjectReply{Refusal: no} }
	return []endpoint{
		s.endpointOn(s.objects, subject.GetObject, must(subject.API(subject.GetObject)), s.getObject, get),
		s.endpointOn(s.objects, "agent-"+subject.GetObject, must(subject.AnyAgent(subject.GetObject)), s.getObject, get),
		s.endpointOn(s.objects, "agent-"+subject.PutObject, must(subject.AnyAgent(subject.PutObject)), s.putObject, put),
	}
}

// endpointOn returns an endpoint whose requests the workers handle.
func (s *Server) endpointOn(workers *workerPool, name, subj string, answer answerer, refused func(*pb.Refusal) proto.Message) endpoint {
	return endpoint{name, subj, func(m micro.Request) {
		r, no := s.newRequest(m, name, refused)
		s.run(workers, r, func(ctx context.Context) (proto.Message, *pb.Refusal) {
			if no != nil {
				return nil, no
			}
			return answer(ctx, r)
		})
	}}
}

// holder is who asks for an object: the holder of a claim, or a person.
type holder struct {
	role, agent, instance string
	token                 uint64
}

// holds reports whether the holder's claim on the instance is live now.
func (h holder) holds(in instance.Instance, now time.Time) bool {
	c := in.Claim
	return c.Live(now) && c.Role == h.role && c.Agent == h.agent && c.Token == h.token
}

// claimed returns the instance of the holder's live claim. The refusal is the same for an instance that is
// not there, that nobody claimed and that another agent claimed.
func (s *Server) claimed(ctx context.Context, h holder) (instance.Instance, *pb.Refusal) {
	if state, ok := s.Engine.Live(h.instance); ok && h.holds(state.Instance, time.Now()) {
		return state.Instance, nil
	}
	none := &pb.Refusal{Code: string(instance.CodeLapsed),
		Message: "objects need a live claim: there is none of this agent with that token on that instance"}
	if subject.CheckInstance(h.instance) != nil {
		return instance.Instance{}, none
	}
	in, err := s.Engine.Get(ctx, h.instance)
	if err != nil && !errors.As(err, new(*instance.Refusal)) {
		return in, refusal(err)
	}
	if err != nil || !h.holds(in, time.Now()) {
		return instance.Instance{}, none
	}
	return in, nil
}

func noObject() *pb.Refusal {
	return &pb.Refusal{Code: CodeUnknownObject, Message: "the instance refers to no such object"}
}

func (s *Server) getObject(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.GetObjectRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	h := holder{r.role, q.GetAgent(), q.GetInstance(), uint64(q.GetToken())}
	var in instance.Instance
	var no *pb.Refusal
	if r.role != "" {
		in, no = s.claimed(ctx, h)
	} else {
		h = holder{instance: q.GetInstance()}
		in, no = s.viewed(ctx, q.GetInstance())
	}
	if no != nil {
		return nil, no
	}
	if !refers(in, q.GetName()) {
		return nil, noObject()
	}
	reply, err := s.transfers.read(ctx, h, q.GetName(), q.GetOffset())
	if err != nil {
		return nil, objectRefusal(err)
	}
	return reply, nil
}

// refers reports whether an object is the instance's. Code of another repository is not, though an agent
// reported it as such.
func refers(in instance.Instance, object string) bool {
	return in.Refers(object) && (!strings.HasPrefix(object, "git/") || strings.HasPrefix(object, bundlePrefix(in)))
}

// bundlePrefix is how the names of objects with code of the instance's repository begin.
func bundlePrefix(in instance.Instance) string {
	return strings.TrimSuffix(path.Join("git", url.PathEscape(in.Issue.Repo)), "/") + "/"
}

// viewed returns an instance that a person wants to see an object of.
func (s *Server) viewed(ctx context.Context, id string) (instance.Instance, *pb.Refusal) {
	if subject.CheckInstance(id) != nil {
		return instance.Instance{}, noObject()
	}
	in, err := s.Engine.Get(ctx, id)
	if errors.As(err, new(*instance.Refusal)) {
		return in, noObject()
	}
	if err != nil {
		return in, refusal(err)
	}
	return in, nil
}

// objectRefusal converts an error of a transfer. One that it does not know may be temporary.
func objectRefusal(err error) *pb.Refusal {
	var limit *limitError
	switch {
	case errors.Is(err, ErrNoObject):
		return noObject()
	case errors.Is(err, ErrOtherContent), errors.As(err, &limit):
		return invalid("%v", err)
	}
	return &pb.Refusal{Code: CodeUnavailable, Message: err.Error()}
}

// limitError names the limit that an object does not keep.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

func (s *Server) putObject(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.PutObjectRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	h := holder{r.role, q.GetAgent(), q.GetInstance(), uint64(q.GetToken())}
	in, no := s.claimed(ctx, h)
	if no != nil {
		return nil, no
	}
	if no := checkPut(in, q); no != nil {
		return nil, no
	}
	reply, err := s.transfers.write(ctx, h, q)
	if err != nil {
		return nil, objectRefusal(err)
	}
	return reply, nil
}

var commitID = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// checkPut returns why an object cannot be put under a claim on the instance. Its name is that of its content:
// an artifact's hash, or the commit at the head of a bundle of the instance's own repository.
func checkPut(in instance.Instance, q *pb.PutObjectRequest) *pb.Refusal {
	name := q.GetName()
	sum, err := hex.DecodeString(q.GetSha256())
	code := strings.HasPrefix(name, bundlePrefix(in)) && path.Clean(name) == name && commitID.MatchString(path.Base(name)) && len(name) <= 1024
	switch {
	case q.GetProbe() && (code || strings.HasPrefix(name, "artifact/")):
		return nil
	case err != nil || len(sum) != 32 || strings.ToLower(q.GetSha256()) != q.GetSha256():
		return invalid("sha256 %.70q: want the hash of the object in hexadecimal", q.GetSha256())
	case name != "artifact/"+q.GetSha256() && !code:
		return invalid("object %.200q: want artifact/SHA256 of its content, or %s…/COMMIT", name, bundlePrefix(in))
	case q.GetSize() > maxObject:
		return invalid("object %.200q has %d bytes, want at most %d", name, q.GetSize(), maxObject)
	case len(q.GetData()) > maxPart:
		return invalid("a part has %d bytes, want at most %d", len(q.GetData()), maxPart)
	case q.GetOffset() > q.GetSize() || uint64(len(q.GetData())) > q.GetSize()-q.GetOffset():
		return invalid("a part of %d bytes at %d is beyond the object's %d", len(q.GetData()), q.GetOffset(), q.GetSize())
	case len(q.GetData()) == 0 && q.GetOffset() < q.GetSize():
		return invalid("a part at %d of %d has no bytes", q.GetOffset(), q.GetSize())
	case code && q.GetOffset() == 0 && !isBundle(q.GetData(), path.Base(name)):
		return invalid("object %.200q: want a git bundle of that commit", name)
	}
	return nil
}

// isBundle reports whether an object begins as a git bundle with a commit at its head.
func isBundle(data []byte, head string) bool {
	header, _, whole := strings.Cut(string(data), "\n\n")
	if !whole || !strings.HasPrefix(header, "# v2 git bundle\n") && !strings.HasPrefix(header, "# v3 git bundle\n") {
		return false
	}
	return strings.Contains(header, "\n"+head+" ")
}
