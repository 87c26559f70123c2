package process

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
)

// Log reads and fills a log.
type Log struct{ host *host }

// Size is the size of a log.
type Size struct{ Bytes, Messages uint64 }

// Size returns the size of the log.
func (l *Log) Size(url string, s *Size) error {
	return l.with(url, func(ctx context.Context, js jetstream.JetStream) error {
		stream, err := js.Stream(ctx, subject.EventStream)
		if err != nil {
			return err
		}
		*s = Size{stream.CachedInfo().State.Bytes, stream.CachedInfo().State.Msgs}
		return nil
	})
}

// Read reads the log with an ordered consumer, decodes nothing, and returns how long it
// took.
func (l *Log) Read(url string, took *time.Duration) error {
	return l.with(url, func(ctx context.Context, js jetstream.JetStream) error {
		stream, err := js.Stream(ctx, subject.EventStream)
		if err != nil {
			return err
		}
		start := time.Now()
		consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
		if err != nil {
			return err
		}
		messages, err := consumer.Messages(jetstream.PullMaxMessages(5000))
		if err != nil {
			return err
		}
		defer messages.Stop()
		for range stream.CachedInfo().State.Msgs {
			if _, err := messages.Next(); err != nil {
				return err
			}
		}
		*took = time.Since(start)
		return nil
	})
}

// FillArgs are the arguments of Log.Fill.
type FillArgs struct {
	URL       string
	Lifecycle []byte
	Prefix    string // of the instances' names
	Instances int
	historyfill.Kind
}

// fillers is the number of instances that are written at a time.
const fillers = 128

// Fill appends a history to the log through the engine's store.
func (l *Log) Fill(a FillArgs, _ *None) error {
	def, err := workflow.Load("history", a.Lifecycle)
	if err != nil {
		return err
	}
	return l.with(a.URL, func(ctx context.Context, js jetstream.JetStream) error {
		log, err := store.Open(ctx, js, store.Config{Sync: time.Minute}) // appends are not grouped
		if err != nil {
			return err
		}
		template, err := historyfill.Template(ctx, def, a.Kind)
		if err != nil {
			return err
		}
		err = historyfill.Fill(ctx, log, template, a.Prefix, a.Instances, fillers)
		return errors.Join(err, log.Close(ctx))
	})
}

// LoadArgs are the arguments of Log.Load and Log.Get.
type LoadArgs struct{ URL, Instance string }

// Load loads an instance from the log twice and returns how long the second time took.
func (l *Log) Load(a LoadArgs, took *time.Duration) error {
	return l.with(a.URL, func(ctx context.Context, js jetstream.JetStream) error {
		log, err := store.Open(ctx, js, store.Config{})
		if err != nil {
			return err
		}
		for range 2 {
			start := time.Now()
			if _, err := log.Load(ctx, a.Instance); err != nil {
				return err
			}
			*took = time.Since(start)
		}
		return nil
	})
}

// Get gets an instance from the orchestrator twice and returns how long the second time
// took.
func (l *Log) Get(a LoadArgs, took *time.Duration) error {
	return l.with(a.URL, func(ctx context.Context, js jetstream.JetStream) error {
		c := client.New(js.Conn(), "bench")
		for range 2 {
			start := time.Now()
			if _, err := c.Get(ctx, a.Instance); err != nil {
				return err
			}
			*took = time.Since(start)
		}
		return nil
	})
}

// ListArgs are the arguments of Log.List.
type ListArgs struct {
	URL, Text string
	All       bool // those that have ended, too
}

// List gets a page of a list from the orchestrator and returns how long it took.
func (l *Log) List(a ListArgs, took *time.Duration) error {
	return l.with(a.URL, func(ctx context.Context, js jetstream.JetStream) error {
		start := time.Now()
		page, err := client.New(js.Conn(), "bench").ListPage(ctx, &pb.ListRequest{All: a.All, Text: a.Text})
		if err == nil && len(page.Instances) == 0 {
			err = errors.New("the list is empty")
		}
		*took = time.Since(start)
		return err
	})
}

// Snapshot waits until there is a snapshot, and returns the size of its parts.
func (l *Log) Snapshot(url string, s *Size) error {
	return l.with(url, func(ctx context.Context, js jetstream.JetStream) error {
		index, err := js.KeyValue(ctx, store.SnapshotBucket)
		if err != nil {
			return err
		}
		written, err := index.WatchAll(ctx)
		if err != nil {
			return err
		}
		for entry := range written.Updates() {
			if entry != nil { // nil: there is none yet
				break
			}
		}
		if err := written.Stop(); err != nil {
			return err
		}
		parts, err := js.ObjectStore(ctx, store.SnapshotParts)
		if err != nil {
			return err
		}
		status, err := parts.Status(ctx)
		if err == nil {
			s.Bytes = status.Size()
		}
		return err
	})
}

func (l *Log) with(url string, f func(ctx context.Context, js jetstream.JetStream) error) error {
	link, options := l.host.link(url)
	nc, err := service.Connect(l.host.ctx, link, "log", quiet(), options...)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	return f(l.host.ctx, js)
}
