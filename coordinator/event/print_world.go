package event

import (
	"fmt"
	"slices"
)

func tp(topic string, partition int32) string { return fmt.Sprintf("%s-%d", Name(topic), partition) }

func (b BrokerStarted) text() string {
	if b.Host == "" {
		return fmt.Sprint(b.ID)
	}
	return fmt.Sprintf("%d at %s:%d", b.ID, Name(b.Host), b.Port)
}
func (b BrokerStopped) text() string {
	return words(fmt.Sprint(b.ID), flag(b.Killed, "killed, noticed by "+Clock(b.NoticedByMs)))
}
func (b BrokerFenced) text() string { return fmt.Sprint(b.ID) }
func (b TopicCreated) text() string {
	return words(Name(b.Topic), fmt.Sprintf("partitions %d, replicas %d", b.Partitions, b.Replicas), flag(b.Internal, "internal"))
}
func (b PartitionsAdded) text() string {
	return fmt.Sprintf("%s %d -> %d", Name(b.Topic), b.From, b.To)
}
func (b TopicDeleted) text() string { return Name(b.Topic) }
func (b LeaderChanged) text() string {
	return fmt.Sprintf("%s leader %d epoch %d replicas %s isr %s", tp(b.Topic, b.Partition), b.Leader, b.Epoch, ids(b.Replicas), ids(b.ISR))
}
func (b LogRecord) text() string {
	switch {
	case b.What == "offset" && b.Tombstone:
		return fmt.Sprintf("offset %s %s tombstone", Name(b.Group), tp(b.Topic, b.Partition))
	case b.What == "offset":
		return fmt.Sprintf("offset %s %s=%d", Name(b.Group), tp(b.Topic, b.Partition), b.Offset)
	case b.What == "group" && b.Tombstone:
		return fmt.Sprintf("group %s tombstone", Name(b.Group))
	case b.What == "group":
		return fmt.Sprintf("group %s generation %d members %d", Name(b.Group), b.Generation, b.Members)
	case b.What == "marker" && b.Commit:
		return "COMMIT marker"
	case b.What == "marker":
		return "ABORT marker"
	}
	return b.What
}
func (b RecordsAppended) text() string {
	s := fmt.Sprintf("%s at %d, %d records, %d bytes", tp(b.Topic, b.Partition), b.BaseOffset, b.Count, b.Bytes)
	if b.Transactional {
		s += fmt.Sprintf(", producer %d epoch %d", b.ProducerID, b.ProducerEpoch)
	}
	for i, r := range b.Told() {
		if i == 0 {
			s += ": "
		} else {
			s += "; "
		}
		s += r.text()
	}
	return s
}
func (b ReplicaAdvanced) text() string {
	return fmt.Sprintf("%s to %d", tp(b.Topic, b.Partition), b.EndOffset)
}
func (b ReplicaTruncated) text() string {
	return fmt.Sprintf("%s from %d to %d", tp(b.Topic, b.Partition), b.From, b.EndOffset)
}
func (b RemovedRecord) text() string {
	s := fmt.Sprintf("%d %s", b.Offset, b.Why)
	if b.By >= 0 {
		s += fmt.Sprintf(" by %d", b.By)
	}
	if b.Record.What != "" {
		s += " (" + b.Record.text() + ")"
	}
	return s
}
func (b LogCompacted) text() string {
	s := fmt.Sprintf("%s from %d to %d, %d bytes to %d, %d records kept, %d removed", tp(b.Topic, b.Partition), b.From, b.To, b.BytesBefore, b.BytesAfter, b.Kept, b.Count)
	for i, r := range b.Removed {
		if i == 0 {
			s += ": "
		} else {
			s += "; "
		}
		s += r.text()
	}
	for _, m := range b.More {
		s += fmt.Sprintf("; %d more %s", m.Count, m.Why)
	}
	return s
}
func (b HighWatermarkAdvanced) text() string {
	return fmt.Sprintf("%s to %d of %d", tp(b.Topic, b.Partition), b.Offset, b.EndOffset)
}
func (b LoadStarted) text() string {
	return fmt.Sprintf("__consumer_offsets-%d epoch %d to %d", b.Partition, b.Epoch, b.EndOffset)
}
func (b LoadProgressed) text() string {
	return fmt.Sprintf("__consumer_offsets-%d at %d of %d, %d records", b.Partition, b.Offset, b.EndOffset, b.Records)
}
func (b LoadFinished) text() string {
	return words(fmt.Sprintf("__consumer_offsets-%d epoch %d: %d groups, %d offsets", b.Partition, b.Epoch, b.Groups, b.Offsets),
		flag(b.Failed != "", "FAILED: "+b.Failed))
}
func (b LoadSkipped) text() string {
	return fmt.Sprintf("__consumer_offsets-%d at %d: %s", b.Partition, b.Offset, b.Reason)
}
func (b PartitionUnloaded) text() string {
	return fmt.Sprintf("__consumer_offsets-%d epoch %d: %d groups", b.Partition, b.Epoch, b.Groups)
}

func (b ClientStarted) text() string {
	line := words(Name(b.Client), "subscribes to", names(b.Topics), flag(b.Real, "(a real process)"))
	if len(b.Assignors) > 0 && !slices.Equal(b.Assignors, []string{"range"}) {
		line = words(line, "assignors", names(b.Assignors))
	}
	if b.InstanceID != "" {
		line = words(line, "instance", Name(b.InstanceID))
	}
	if b.TransactionalID != "" {
		line = words(line, "transactional", Name(b.TransactionalID))
	}
	return line
}
func (b ClientStopped) text() string { return words(Name(b.Client), flag(b.Killed, "killed")) }
func (b ClientPaused) text() string  { return Name(b.Client) }
func (b ClientResumed) text() string { return Name(b.Client) }
func (b ClientStateChanged) text() string {
	return words(Name(b.Client), string(b.From)+" -> "+string(b.To), opt("as", b.Member),
		fmt.Sprintf("generation %d:", b.Generation), b.Reason)
}
func (b ClientAssigned) text() string {
	line := words(Name(b.Client), fmt.Sprintf("generation %d:", b.Generation), Partitions(b.Topics))
	if b.Cooperative {
		line = words(line, "new:", Partitions(b.Added))
	}
	return line
}
func (b ClientRevoked) text() string {
	return words(Name(b.Client)+":", Partitions(b.Topics), flag(b.Lost, "lost"))
}
func (b ClientWaiting) text() string {
	return words(Name(b.Client), "for", b.For, "until", Clock(b.DeadlineMs))
}
func (b ClientFailed) text() string     { return words(Name(b.Client), CodeName(b.Code), b.Error) }
func (b CoordinatorFound) text() string { return fmt.Sprintf("%s: broker %d", Name(b.Client), b.ID) }
func (b CoordinatorLost) text() string  { return words(Name(b.Client)+":", b.Reason) }
func (b MetadataRefreshed) text() string {
	return words(Name(b.Client)+":", Partitions(b.Topics), flag(b.Changed, "changed"))
}
func (b RequestSent) text() string {
	return words(fmt.Sprintf("%s #%d", APIName(b.API), b.Request), "from", Name(b.Client), fmt.Sprintf("to broker %d", b.To),
		flag(b.CopyOf != 0, fmt.Sprintf("a copy of #%d", b.CopyOf)))
}
func (b ReplyOnWire) text() string {
	return words(fmt.Sprintf("%s #%d", APIName(b.API), b.Request), "to", Name(b.Client), CodeName(b.Code), flag(len(b.Offsets) > 0, offsets(b.Offsets)))
}
func (b ReplyReceived) text() string {
	return words(fmt.Sprintf("%s #%d", APIName(b.API), b.Request), "by", Name(b.Client), CodeName(b.Code))
}
func (b RequestFailed) text() string {
	return words(fmt.Sprintf("%s #%d", APIName(b.API), b.Request), "of", Name(b.Client)+":", b.Reason)
}
func (b MessageLost) text() string {
	return words(fmt.Sprintf("%s #%d", APIName(b.API), b.Request), flag(b.Reply, "answer"), "of", Name(b.Client))
}
func (b ConnectionOpened) text() string {
	return words(fmt.Sprint(b.Connection), "by", Name(b.ClientID)+Name(b.ClientHost), opt("with", b.Software))
}
func (b ConnectionClosed) text() string {
	return words(fmt.Sprint(b.Connection), "of", Name(b.ClientID), flag(len(b.Members) > 0, "members "+names(b.Members)), b.Reason)
}
func (b InputGiven) text() string { return b.Text }
func (b FactsBegan) text() string { return Clock(b.NowMs) }
func (b FactsEnded) text() string { return "" }
