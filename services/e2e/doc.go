// Package e2e tests the services as they are run: each its own process, with a
// separate nats-server and a forge, killed and starved where that may happen.
// There is nothing in it but tests.
//
//	SIGNALBOX_CHAOS=500     how many instances TestChaos… has live
//	SIGNALBOX_SOAK=50       how many issues TestKill… runs
//	SIGNALBOX_TIMERS=10000  how many instances TestTimers… has wait
//	SIGNALBOX_LINEAR=100000 how many questions TestTheAPIIsLinearizable asks
//	SIGNALBOX_CLUSTER=100   how often TestACluster… strikes, in each mode
//	SIGNALBOX_SEED=7        what it draws its moments from; it prints the one it used
package e2e
