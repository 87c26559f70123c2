package main

import pb "github.com/signalbox/signalbox/proto/signalbox/v1"

func claim(instance, agent string, work uint64) *pb.Command {
	return &pb.Command{Instance: instance, Actor: agent, Action: &pb.Command_Claim{
		Claim: &pb.Claim{Agent: agent, Work: work, LeaseMs: 60_000}}}
}
