package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/attestation"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func (s *Server) attestEndpoint(name, subj string) endpoint {
	return s.endpointOn(s.objects, name, subj, s.attestation, func(no *pb.Refusal) proto.Message { return &pb.AttestReply{Refusal: no} })
}

// attestation signs a statement on a commit of an instance. An agent's is kept as an object, which the agent
// names in its report.
func (s *Server) attestation(ctx context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.AttestRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	if s.Key == nil {
		return nil, &pb.Refusal{Code: CodeNoKey, Message: "this orchestrator has no key to sign with: give it one with --attest-key"}
	}
	if r.role != "" {
		if _, no := s.claimed(ctx, holder{r.role, q.GetAgent(), q.GetInstance(), uint64(q.GetToken())}); no != nil {
			return nil, no
		}
	} else if _, no := s.viewed(ctx, q.GetInstance()); no != nil {
		return nil, no
	}
	envelope, no := s.signed(ctx, q.GetInstance(), q.GetCommit())
	if no != nil {
		return nil, no
	}
	if r.role == "" || s.Objects == nil {
		return &pb.AttestReply{Envelope: envelope}, nil
	}
	name, err := s.keep(ctx, envelope)
	if err != nil {
		return nil, objectRefusal(err)
	}
	return &pb.AttestReply{Envelope: envelope, Object: name}, nil
}

// signed returns the envelope of a statement on a commit, which is given as git stores it.
func (s *Server) signed(ctx context.Context, id string, raw []byte) ([]byte, *pb.Refusal) {
	commit, tree, err := attestation.ReadCommit(raw)
	if err != nil {
		return nil, invalid("commit: %v", err)
	}
	commits, err := s.commits(ctx, id)
	if errors.Is(err, eventstore.ErrUnknown) {
		return nil, noObject()
	}
	if err != nil {
		return nil, refusal(err)
	}
	statement, err := attestation.Build(attestation.Record{ID: id, Commits: commits, Commit: commit, Tree: tree,
		Accounts: s.Conn.AuthRequired(), Program: service.ReadBuild().Version})
	if err != nil {
		return nil, invalid("%v", err)
	}
	envelope, err := attestation.Sign(statement, s.Key)
	return envelope, refusal(err)
}

// keep stores an envelope and returns the name of its object.
func (s *Server) keep(ctx context.Context, envelope []byte) (name string, err error) {
	sum := sha256.Sum256(envelope)
	hash := hex.EncodeToString(sum[:])
	u := s.Objects.Upload("artifact/" + hash)
	for part := range slices.Chunk(envelope, maxPart) {
		if err := u.Append(ctx, part); err != nil {
			return "", errors.Join(err, u.Abort(context.WithoutCancel(ctx)))
		}
	}
	return "artifact/" + hash, u.End(ctx, hash)
}
