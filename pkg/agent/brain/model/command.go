package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

type runArgs struct {
	Command string `json:"command"`
	Seconds int    `json:"seconds"`
}

// command runs a shell command of the model's in the sandbox, without a network.
func (s *step) command(ctx context.Context, a runArgs) (string, error) {
	if strings.TrimSpace(a.Command) == "" || strings.ContainsRune(a.Command, 0) {
		return "", errors.New("command is empty, or has a zero byte")
	}
	wall := s.cfg.Command
	if d := time.Duration(a.Seconds) * time.Second; d > 0 && d < wall {
		wall = d
	}
	c := sandbox.Command{
		Argv: []string{"sh", "-c", a.Command}, Dir: s.a.Dir, Env: sandbox.Environ(), Wall: wall, Limits: s.cfg.Limits,
		MaxOutput: 2 * maxOutput, Readable: []string{s.a.Shared},
	}
	if s.a.Shared == "" {
		c.Readable = nil
	}
	if s.cfg.Cache != nil {
		c.Cache = s.cfg.Cache(s.a)
	}
	r, err := s.cfg.Sandbox.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return fmt.Sprintf("%s\n%s", r, r.Output), nil
}
