package event

import (
	"fmt"
	"strconv"
)

func sure(c Confidence) string {
	if c == "" {
		return ""
	}
	return "(confidence " + string(c) + ")"
}

func (b GroupSummarized) text() string {
	if b.Gone {
		return "gone"
	}
	line := words(string(b.State), opt("type", b.Type), fmt.Sprintf("generation %d, %d members", b.Generation, b.Members))
	if b.Waiting > 0 {
		line = words(line, "waits for", names(b.Awaited))
		if b.Waiting > len(b.Awaited) {
			line = words(line, fmt.Sprintf("and %d more", b.Waiting-len(b.Awaited)))
		}
		if b.DeadlineMs > 0 {
			line = words(line, "until", Clock(b.DeadlineMs))
		}
	}
	if b.Dead > 0 {
		line = words(line, "dead:", names(b.Ghosts))
		if b.GhostsMs > 0 {
			line = words(line, "until", Clock(b.GhostsMs))
		}
	}
	return words(line, opt("last:", string(b.Why)), sure(b.Confidence))
}

func (b GenerationRecorded) text() string {
	line := words(fmt.Sprintf("generation %d from %s", b.Generation, Clock(b.StartedMs)))
	if b.SettledMs > 0 {
		line = words(line, "settled at", Clock(b.SettledMs))
	}
	return words(line, fmt.Sprintf("members %d, moved %d of %d:", b.Members, b.Moved, b.Partitions), string(b.Why), opt("by", b.Member), sure(b.Confidence))
}

func (b ClusterAttached) text() string {
	return words(opt("cluster", b.ClusterID), "by", b.Mode, fmt.Sprintf("%d partitions", b.Partitions))
}

func (b SightChanged) text() string {
	if !b.Lost {
		return Name(b.Source) + " is seen again"
	}
	line := Name(b.Source) + " is not seen"
	if b.Code != 0 {
		line = words(line, CodeName(b.Code))
	}
	return words(line+":", b.Reason, opt("missing:", b.Right), opt("hides:", b.Hides))
}

func (b CostMeasured) text() string {
	line := Duration(b.IntervalMs) + ":"
	for _, c := range b.Brokers {
		line = words(line, fmt.Sprintf("b%d %d requests %d bytes %d us", c.Broker, c.Requests, c.Bytes, c.RoundTripUs))
	}
	return line
}

func (b CauseInferred) text() string {
	return words("generation", strconv.Itoa(int(b.Generation))+":", string(b.Why), opt("by", b.Member), opt("reason", b.ClientReason), sure(b.Confidence), "from", b.Evidence)
}

func (b GroupListed) text() string { return words(opt("type", b.Type), string(b.State)) }

func (b AwaitedSeen) text() string {
	line := words("in", string(b.State))
	if len(b.Joined) > 0 {
		line = words(line, names(b.Joined), "joined")
	}
	for _, a := range b.Awaited {
		doubt := "perhaps "
		if a.Sure {
			doubt = ""
		}
		line = words(line, doubt+"awaits", Name(a.Member))
		if a.ExpiresMs > 0 {
			line = words(line, "(session ends between", Clock(a.ExpiresMs), "and", Clock(a.ExpiresHiMs)+")")
		}
	}
	if b.DeadlineMs > 0 {
		line = words(line, "until", Clock(max(b.DeadlineMs, b.DeadlineHiMs)))
	}
	return line
}

func (b LagMeasured) text() string {
	line := Name(b.Topic)
	for _, p := range b.Partitions {
		line = words(line, fmt.Sprintf("%d: %d of %d", p.Partition, p.Committed, p.End), opt("", p.Words))
	}
	return line
}

func (b EpochBumped) text() string {
	return words(fmt.Sprintf("epoch %d:", b.Epoch), string(b.Why), opt("by", b.Member), sure(b.Confidence))
}

func (b TargetAssigned) text() string {
	return words(fmt.Sprintf("epoch %d, %d moved:", b.Epoch, b.Moved), assignments(b.Assignments))
}

func (b MemberReconciled) text() string {
	line := words(Name(b.Member), fmt.Sprintf("epoch %d -> %d", b.PreviousEpoch, b.Epoch), b.State, "has", Partitions(b.Assigned))
	if len(b.Revoking) > 0 {
		line = words(line, "gives up", Partitions(b.Revoking))
	}
	if len(b.WaitsFor) > 0 {
		line = words(line, "waits for", names(b.WaitsFor))
	}
	return line
}
