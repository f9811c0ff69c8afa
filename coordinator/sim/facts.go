package sim

import "grouplab/coordinator/event"

// started describes the process as it began.
func (c *consumer) started() event.ClientStarted {
	return event.ClientStarted{
		Client: c.cfg.Name, Topics: c.cfg.Topics, SessionTimeoutMs: c.cfg.SessionTimeoutMs,
		RebalanceTimeoutMs: c.cfg.RebalanceTimeoutMs, HeartbeatMs: c.cfg.HeartbeatMs,
		Assignors: c.cfg.Assignors, InstanceID: c.cfg.InstanceID, TransactionalID: c.cfg.TransactionalID,
	}
}

// facts are the events from which a fold rebuilds what a process believes; none where it does not run.
func (c *consumer) facts() (bodies []event.Body) {
	if c.phase == off || c.phase == asking {
		return nil
	}
	bodies = append(bodies, c.started())
	if c.coordinator != 0 {
		bodies = append(bodies, event.CoordinatorFound{Client: c.cfg.Name, ID: c.coordinator})
	}
	if c.state != event.Unjoined {
		bodies = append(bodies, event.ClientStateChanged{
			Client: c.cfg.Name, From: event.Unjoined, To: c.state, Member: c.memberID, Generation: c.generation, Reason: "as it is now",
		})
	}
	if owned := c.owned(); owned != nil {
		bodies = append(bodies, event.ClientAssigned{
			Client: c.cfg.Name, Member: c.memberID, Generation: c.generation, Topics: owned, Cooperative: c.cooperative(),
		})
	}
	if c.paused {
		bodies = append(bodies, event.ClientPaused{Client: c.cfg.Name})
	}
	return bodies
}
