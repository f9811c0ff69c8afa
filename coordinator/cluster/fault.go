package cluster

import (
	"fmt"
	"slices"

	"grouplab/coordinator/log"
)

// Fault is trouble for the next appends of a broker's own coordinators: what a full disk, a lost replica or a slow
// network does to them, without one.
type Fault struct {
	// What picks the appends, by AppendRequest.What; "" picks any.
	What string
	// Count is how many appends it strikes.
	Count int
	// Code is the error that they are answered with, 0 for none.
	Code int16
	// Late lets the batch be written and replicated before the answer fails; otherwise it is refused and not written.
	Late bool
	// HoldMs is how long an answer is kept back after the batch was written. Beyond the append's own timeout it is
	// REQUEST_TIMED_OUT, as in Kafka. Appends that come later to the same partition wait behind it.
	HoldMs int64
}

// SetFault has the next appends of coordinators fail, or be slow. It takes the place of what was said before about the
// same appends; a Count of 0 ends that. It panics where a number is negative, or where there is neither Code nor HoldMs.
func (c *Cluster) SetFault(nowMs int64, f Fault) {
	c.at(nowMs)
	if f.Count < 0 || f.HoldMs < 0 || f.Count > 0 && f.Code == codeNone && f.HoldMs == 0 {
		panic(fmt.Sprintf("cluster: %+v is no fault", f))
	}
	c.faults = slices.DeleteFunc(c.faults, func(o Fault) bool { return o.What == f.What || o.Count == 0 })
	if f.Count > 0 {
		c.faults = append(c.faults, f)
	}
}

// struck is the fault that an append meets; the zero Fault where it meets none.
func (c *Cluster) struck(r *AppendRequest) Fault {
	for i := range c.faults {
		if f := &c.faults[i]; r.Internal && f.Count > 0 && (f.What == "" || f.What == r.What) {
			f.Count--
			return *f
		}
	}
	return Fault{}
}

// refusal is the fault's answer to an append that is not written, nil where it is.
func (f Fault) refusal() *log.Error {
	if f.Code == codeNone || f.Late {
		return nil
	}
	return &log.Error{Code: f.Code, Reason: "the lab has the append fail"}
}

// spoil puts the fault's late error into the outcome of an append that was written.
func (f Fault) spoil(result *Appended) {
	if f.Late && f.Code != codeNone {
		result.Code, result.Message = f.Code, "the lab has the append fail after it was written"
	}
}

// releaseHeld answers the appends whose answer was kept back until now.
func (c *Cluster) releaseHeld() {
	for _, index := range slices.Clone(c.waiting) {
		if p := c.partitions[index]; len(p.waiters) > 0 && p.waiters[0].heldUntilMs > 0 && p.waiters[0].heldUntilMs <= c.nowMs {
			c.release(p)
		}
	}
}

// heldDeadline is when the first answer of a partition that is kept back may go, -1 where none is.
func (p *partition) heldDeadline() int64 {
	if len(p.waiters) == 0 || p.waiters[0].heldUntilMs == 0 || p.leader < 0 || p.local().hw < p.waiters[0].end {
		return -1
	}
	return p.waiters[0].heldUntilMs
}
