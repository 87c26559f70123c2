package api

import (
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Codes of refusals in addition to those of pkg/engine/instance.
const (
	// CodeUnavailable means: not now, send the command again under the same id.
	CodeUnavailable = "unavailable"
	// CodeNoWork refuses a claim that waited: no work came, or there is some in the queue.
	CodeNoWork = "no_work"
	// CodeNoKey refuses an attestation: this orchestrator was given no key.
	CodeNoKey = "no_key"
)

// maxMessage bounds the text of a refusal, which is sent as a header, too, and may quote the request.
const maxMessage = 2 << 10

// status maps the codes of refusals to the micro framework's error codes, which are HTTP's.
var status = map[string]string{
	string(instance.CodeInvalid): "400", string(instance.CodeNotOwner): "403", string(instance.CodeUnknownInstance): "404",
	string(instance.CodeExists): "409", string(instance.CodeNotPermitted): "409", string(instance.CodeStale): "409",
	string(instance.CodeHeld): "409", string(instance.CodeLapsed): "409", string(instance.CodePaused): "409",
	string(instance.CodeForbidden): "403", string(instance.CodeEarly): "409",
	string(instance.CodeClosed): "410", CodeNoWork: "404", CodeNoKey: "404", CodeUnknownObject: "404", string(instance.CodeUndecided): "500", CodeUnavailable: "503",
}

func invalid(format string, args ...any) *pb.Refusal {
	return &pb.Refusal{Code: string(instance.CodeInvalid), Message: fmt.Sprintf(format, args...)}
}

// refusal converts an error of the engine. One that is no *instance.Refusal may be temporary.
func refusal(err error) *pb.Refusal {
	if err == nil {
		return nil
	}
	if r := new(instance.Refusal); errors.As(err, &r) {
		return wire.Refusal(r)
	}
	if errors.Is(err, engine.ErrNoWork) {
		return &pb.Refusal{Code: CodeNoWork, Message: "no work came"}
	}
	return &pb.Refusal{Code: CodeUnavailable, Message: err.Error()}
}

// isStopping is the message of stopping.
const isStopping = "this orchestrator is stopping"

func stopping() *pb.Refusal {
	return &pb.Refusal{Code: CodeUnavailable, Message: isStopping}
}
