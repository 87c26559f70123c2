// Package e2e tests the services as they run in production: each a process of its
// own, with a separate nats-server and a forge, under faults. It has tests only.
//
// Fixtures: env is a complete installation, chaosEnv one whose connections can be
// broken, clusterEnv one on three servers. A supervisor restarts what is killed, a
// faultInjector injects faults, a logFollower reads the log.
//
//	SIGNALBOX_CHAOS=500     instances of TestChaos…
//	SIGNALBOX_SOAK=50       issues of TestKill…
//	SIGNALBOX_TIMERS=10000  instances of TestTimers…
//	SIGNALBOX_LINEAR=100000 commands and queries of TestTheAPIIsLinearizable
//	SIGNALBOX_CLUSTER=100   faults of TestACluster…, in each mode
//	SIGNALBOX_SEED=7        seed of the random choices; each test logs the one it used
package e2e
