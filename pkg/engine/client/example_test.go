package client_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// A client sends commands and queries over a connection to NATS.
func ExampleClient() {
	nc, stop, err := system()
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	c := client.New(nc, "operator:ann")
	in, err := c.Get(ctx, "acme/widgets/1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(in.GetInstance(), "is in", in.GetState())
	if !in.GetPaused() {
		reply, err := c.Pause(ctx, in.GetInstance(), "we freeze the branch")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("commit", reply.GetSeq(), "pauses it:", reply.GetInstance().GetReason())
	}
	// Output:
	// acme/widgets/1 is in implementing
	// commit 8 pauses it: we freeze the branch
}

// system returns a connection to a NATS server where one instance is, in place of an orchestrator.
func system() (nc *nats.Conn, stop func(), err error) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, nil, err
	}
	s.Start()
	if nc, err = nats.Connect("", nats.InProcessServer(s)); err != nil {
		s.Shutdown()
		return nil, nil, err
	}
	for name, reply := range map[string]proto.Message{
		subject.Get:   &pb.GetReply{Instance: &pb.Instance{Instance: "acme/widgets/1", State: "implementing"}},
		subject.Pause: &pb.CommandReply{Seq: 8, Instance: &pb.Instance{Instance: "acme/widgets/1", State: "implementing", Paused: true, Reason: "we freeze the branch"}},
	} {
		to, err := subject.API(name)
		if err != nil {
			return nil, nil, err
		}
		data, err := proto.Marshal(reply)
		if err != nil {
			return nil, nil, err
		}
		if _, err := nc.Subscribe(to, func(m *nats.Msg) { _ = m.Respond(data) }); err != nil {
			return nil, nil, err
		}
	}
	return nc, func() { nc.Close(); s.Shutdown() }, nil
}
