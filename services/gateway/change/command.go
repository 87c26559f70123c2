package change

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Seen is a change with what was read of the forge and of the log for it. There is a type for each
// kind, in the file of the event that reports it.
type Seen interface {
	// Commands returns the commands that follow, in their order. Their ids follow from the change,
	// so one that is seen again, or by another way, is carried out once.
	Commands() []Command
}

// Command is a command for an instance, and its name in the API.
type Command struct {
	Name string
	*pb.Command
}

func signal(instance, name, id, actor string, data map[string]string) Command {
	return Command{subject.Signal, &pb.Command{Id: id, Instance: instance, Actor: actor, Action: &pb.Command_Signal{
		Signal: &pb.Signal{Name: name, Ref: id, Data: data}}}}
}

func pause(instance, id, reason string) Command {
	return Command{subject.Pause, &pb.Command{Id: id, Instance: instance, Action: &pb.Command_Pause{Pause: &pb.Pause{Reason: reason}}}}
}

func resume(instance, reason string) Command {
	return Command{subject.Resume, &pb.Command{Instance: instance, Action: &pb.Command_Resume{Resume: &pb.Resume{Reason: reason}}}}
}

func cancel(instance, reason string) Command {
	return Command{subject.Cancel, &pb.Command{Instance: instance, Action: &pb.Command_Cancel{Cancel: &pb.Cancel{Reason: reason}}}}
}

func reopen(instance, id, reason string) Command {
	return Command{subject.Reopen, &pb.Command{Id: id, Instance: instance, Action: &pb.Command_Reopen{Reopen: &pb.Reopen{Reason: reason}}}}
}

// digest returns the first bytes of the digest of a text, as hexadecimal digits.
func digest(bytes int, format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:bytes])
}

// WaitingSince returns since when an instance waits for people, in whole seconds as a
// forge counts. held is false if it does not wait.
func WaitingSince(in *pb.Instance) (since time.Time, held bool) {
	for _, e := range in.GetEscalations() {
		at := e.GetAt().AsTime().Truncate(time.Second)
		if e.GetRequiresHuman() && !e.GetResolved() && (!held || at.Before(since)) {
			since, held = at, true
		}
	}
	return since, held
}

// OpenQuestions returns the numbers of the open questions to people.
func OpenQuestions(in *pb.Instance) (open []int) {
	for _, q := range in.GetQuestions() {
		if q.GetTo() == "" && !q.GetAnswered() {
			open = append(open, int(q.GetNumber()))
		}
	}
	return open
}
