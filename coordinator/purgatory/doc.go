// Package purgatory holds operations that cannot be answered yet, as Kafka's DelayedOperationPurgatory does, and the
// hierarchical timing wheel that ends them when their time is up (Kafka: TimingWheel, SystemTimer).
//
// A waiting operation leaves by one of two doors. Door A is its condition: somebody knocks on one of its keys
// (CheckAndComplete) and the condition holds. Door B is its deadline. It leaves once, whichever comes first.
//
// Nothing here reads a clock, locks or starts a goroutine. The owner moves time with Wheel.Advance and hands what
// expired to the purgatory that armed it:
//
//	for {
//		x, ok := wheel.Advance(nowMs, cascaded)
//		if !ok {
//			break
//		}
//		switch x.Owner {
//		case ownerHeartbeat:
//			heartbeats.Expire(x)
//		case ownerRebalance:
//			rebalances.Expire(x)
//		}
//	}
//	heartbeats.Purge()
//	rebalances.Purge()
//
// Kafka's cancelForKey is not here: its group coordinator never calls it.
//
// Several purgatories share one wheel, so that what is due in the same millisecond ends in the order in which it was
// armed, across all of them. All state lies in slices addressed by index: Clone copies slices, and a copy cascades and
// expires exactly as its original.
package purgatory
