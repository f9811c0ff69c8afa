// Package timeline turns what an observer reads and asks of a real cluster into the facts of package event: the records
// of __consumer_offsets, answers of ListGroups and DescribeGroups, ends of logs, lines of a broker's log. It is the pure
// heart of the attach mode: no IO, no clock, no goroutine; the same observations give the same events, byte for byte.
//
// A host makes one Timeline and hands it what it learns, in the order in which it learned it:
//
//	t := timeline.New(timeline.Config{Numbers: numbers})
//	events := t.Observe(nowMs, timeline.Attached{…})
//	events = t.Observe(nowMs, timeline.Metadata{…})
//	events = t.Observe(nowMs, timeline.ReadFrom{Partition: 7, Start: 0, End: 4711})
//	events = t.Observe(nowMs, timeline.Records{Partition: 7, Next: 250, Records: …})
//
// Events of a group carry the broker that leads its partition of __consumer_offsets, so that the fold that draws our own
// brokers draws these too. Times of what is in the log are the brokers' (the records' timestamps); times of what was
// asked are the observer's, from the question to the answer: an event that lies between has AtMs and AtHiMs.
//
// # What the log proves, and what is concluded
//
// A classic group writes one record when the leader's assignment is accepted, when its last member goes and when a static
// member comes back under a new id. In it are the generation, the members with what they subscribe to and were given, and
// when the group entered its state: the end of the join phase. Who joined, left or changed is the difference of two
// records. When the rebalance began, and why, is not written: the beginning is bounded by what was asked and by the record
// before (AtMs…AtHiMs), the cause is CauseInferred with its confidence and evidence, until a line of the broker's log says
// it. A consumer group (KIP-848) writes every step; there only what a member that went died of is concluded.
//
// While a partition is read for the first time (its position is below the end noted at the start) groups are gathered, not
// told: at its end each becomes one GroupLoaded with members, assignment and offsets. Generations of classic groups that
// lie within Config.HistoryMs are told as they are read, with their own times.
package timeline
