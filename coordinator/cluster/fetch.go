package cluster

// A fetcher is one broker's fetcher thread towards one leader (Kafka: ReplicaFetcherThread), and the leader's fetch
// session with it (KIP-227). One request is under way at a time and names only the partitions whose log end changed. The
// leader parks it while it has no records to give.
//
// Kafka's leader answers a parked fetch empty after replica.fetch.wait.max.ms, and the follower asks again. Where such a
// round would tell nobody anything, it is left out here: the fetch stays parked, and is answered at the beat at which
// Kafka's would have been as soon as there is something small to tell (a high watermark, a partition to add). So an
// idle cluster is silent, and everything that can be seen happens when it happens in Kafka.
type fetcher struct {
	follower, leader int32
	// count is the number of partitions that the follower fetches from the leader.
	count int
	// unkept is the number of those whose disk has not kept what they got last: the next request is sent when it has, as
	// Kafka's thread writes what it was given before it asks again.
	unkept int

	// The follower's side. seq numbers its requests; outstanding is set from the request until the answer; full makes the
	// next request name every partition; queue are those whose log end changed; retryMs is when it may ask again after
	// the connection broke, -1 without.
	seq         int64
	outstanding bool
	full        bool
	queue       []int32
	retryMs     int64

	// The leader's side. A parked request arrived at parkedMs; heardMs is when the last one arrived; changed are
	// partitions with news, hasRecords is set where they are records; beatMs is when the parked request is answered
	// for the sake of small news, -1 without.
	parked            bool
	parkedMs, heardMs int64
	changed           []int32
	hasRecords        bool
	beatMs            int64
}

// messageBody is what a message carries. It is never changed once it was sent.
type messageBody struct {
	follower, leader int32
	seq              int64
	full             bool
	asked            []fetchPart
	answered         []answerPart
	marker           *markerMessage // the message is about a marker, and about no fetch
}

// fetchPart asks for a partition from an offset on; lastEpoch is the epoch of the record before it (KIP-595's
// LastFetchedEpoch), -1 where there is none.
type fetchPart struct {
	index, epoch, lastEpoch int32
	offset                  int64
	cause                   int64
}

// answerPart answers a fetchPart: records, or what was wrong with it.
type answerPart struct {
	index, epoch   int32
	offset         int64
	batches        []byte
	hw, start, end int64
	trouble        trouble
	cause          int64
}

// responseMaxBytes is replica.fetch.response.max.bytes: soft, the first batch always fits.
const responseMaxBytes = 10 << 20

func (c *Cluster) fetcher(follower, leader int32) *fetcher {
	return &c.fetchers[(follower-1)*c.cfg.Brokers+leader-1]
}

// pump sends every request and answer that is due.
func (c *Cluster) pump() {
	if len(c.completing) > 0 {
		c.completeReassignments()
	}
	for i := range c.fetchers {
		f := &c.fetchers[i]
		if f.count == 0 || f.follower == f.leader {
			continue
		}
		c.ask(f)
		c.answer(f)
	}
}

// fetcherDeadline is when pump has something to do by the clock alone.
func (c *Cluster) fetcherDeadline(f *fetcher) int64 {
	switch {
	case f.count == 0 || !c.Running(f.follower) || !c.Running(f.leader):
		return -1
	case f.unkept > 0:
		return -1
	case !f.outstanding:
		return f.retryMs
	case f.parked:
		return f.beatMs
	}
	return -1
}

// Deliver tells that a message arrived. What a broken connection left behind is ignored.
func (c *Cluster) Deliver(nowMs int64, m Message) {
	c.at(nowMs)
	if m.body != nil && m.body.marker != nil {
		c.deliverMarker(m)
		return
	}
	f, current := c.bearer(m)
	switch {
	case !current:
	case m.Answer:
		c.answered(f, m.body)
	case !f.parked:
		c.asked(f, m.body)
	}
}

// Lost tells that a message will never arrive: the follower's connection broke, and it tries again after
// ReplicaFetchBackoffMs. A host that drops a message must tell.
func (c *Cluster) Lost(nowMs int64, m Message) {
	c.at(nowMs)
	if m.body != nil && m.body.marker != nil {
		c.markerLost(m)
		return
	}
	if f, current := c.bearer(m); current {
		c.disconnect(f)
	}
}

// bearer is the fetcher that a message belongs to, and whether the message is of its request that is under way.
func (c *Cluster) bearer(m Message) (*fetcher, bool) {
	if m.body == nil {
		panic("cluster: a Message that no cluster sent")
	}
	f := c.fetcher(m.body.follower, m.body.leader)
	return f, f.outstanding && f.seq == m.body.seq
}

// disconnect forgets the request under way; the next one names everything again.
func (c *Cluster) disconnect(f *fetcher) {
	if f.parked {
		f.heardMs = c.nowMs
	}
	f.outstanding, f.parked, f.full, f.hasRecords = false, false, true, false
	f.beatMs, f.retryMs = -1, -1
	if f.count > 0 {
		f.retryMs = c.nowMs + c.cfg.ReplicaFetchBackoffMs
	}
	for _, index := range f.changed {
		if p := c.partitions[index]; p.leader == f.leader {
			p.remotes[p.at(f.follower)].listed = false
		}
	}
	for _, index := range f.queue {
		p := c.partitions[index]
		if i := p.at(f.follower); i >= 0 && p.replicas[i].source == f.leader {
			p.replicas[i].queued = false
		}
	}
	f.changed, f.queue = f.changed[:0], f.queue[:0]
	f.seq++ // what is still on the wire belongs to the past
}
