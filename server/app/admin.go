package app

import (
	"fmt"
	"slices"

	"grouplab/coordinator/cluster"
	"grouplab/server/kafka"
)

// What an operator asks over the Kafka protocol. All of it runs on the loop's goroutine.

func (b *backend) DeleteTopic(nowMs int64, name string) (int16, string) {
	return b.durable(b.drive.DeleteTopic(nowMs, name))
}

func (b *backend) AddPartitions(nowMs int64, topic string, total int32, places [][]int32) (int16, string) {
	return b.durable(b.drive.AddPartitionsAt(nowMs, topic, total, places))
}

func (b *backend) DeleteRecords(nowMs int64, broker int32, topic string, partition int32, offset int64) (int64, int16) {
	return b.drive.DeleteRecords(nowMs, broker, topic, partition, offset)
}

func (b *backend) Elect(nowMs int64, topic string, partition int32, unclean bool) (int16, string) {
	return b.durable(b.drive.Elect(nowMs, topic, partition, unclean))
}

func (b *backend) Reassign(nowMs int64, topic string, partition int32, to []int32, mayResize bool) (int16, string) {
	return b.durable(b.drive.Reassign(nowMs, topic, partition, to, mayResize))
}

func (b *backend) Reassignments() (list []kafka.Reassignment) {
	for _, r := range b.drive.Cluster().Reassignments() {
		list = append(list, kafka.Reassignment(r))
	}
	return list
}

// LogDir says where the copies of a broker are: in a folder, or in memory.
func (b *backend) LogDir(broker int32) (path string, copies []kafka.Copy) {
	c := b.drive.Cluster()
	for _, topic := range c.TopicNames() {
		for p := range c.Partitions(topic) {
			replicas := c.Replicas(topic, p)
			hw := int64(0)
			for _, r := range replicas {
				hw = max(hw, r.HighWatermark)
			}
			for _, r := range replicas {
				if r.Broker == broker {
					copies = append(copies, kafka.Copy{Topic: topic, Partition: p, Bytes: r.Bytes, Lag: max(0, hw-r.EndOffset)})
				}
			}
		}
	}
	if b.data != nil {
		return b.data.disk.Dir(broker), copies
	}
	return "memory", copies
}

func (b *backend) Fenced() (list []kafka.Broker) {
	c := b.drive.Cluster()
	listed := c.Listed()
	for id := int32(1); id <= c.Brokers(); id++ {
		if !slices.ContainsFunc(listed, func(l cluster.BrokerInfo) bool { return l.ID == id }) {
			host, port := c.Config().HostPort(id)
			list = append(list, kafka.Broker{ID: id, Host: host, Port: port})
		}
	}
	return list
}

// Kafka's codes for questions about settings.
const (
	codeUnknownTopic   int16 = 3
	codeInvalidConfig  int16 = 40
	codeInvalidRequest int16 = 42
)

func (b *backend) Settings(broker int32, r kafka.Resource) (list []kafka.Setting, code int16, message string) {
	switch {
	case r.Kind == kafka.ResourceTopic:
		own, ok := b.drive.Cluster().TopicSettings(r.Name)
		if !ok {
			return nil, codeUnknownTopic, fmt.Sprintf("there is no topic %q", r.Name)
		}
		for _, s := range own {
			list = append(list, b.topicSetting(s))
		}
		return list, 0, ""
	case r.Kind == kafka.ResourceBroker && (r.Name == "" || r.Name == fmt.Sprint(broker)):
		return b.live.describe(b.drive.Cluster().Config(), broker, r.Name == ""), 0, ""
	case r.Kind == kafka.ResourceGroup:
		return groupSettings(r.Name)
	case r.Kind == kafka.ResourceBroker:
		return nil, codeInvalidRequest, fmt.Sprintf("broker %d answers for itself: ask for %d, or for \"\", not for %q", broker, broker, r.Name)
	}
	return nil, codeInvalidRequest, fmt.Sprintf("resources of type %d have no settings here; topics (2), brokers (4) and groups (32) have", r.Kind)
}

// topicSetting tells a topic's setting with what would count without it.
func (b *backend) topicSetting(s cluster.TopicSetting) kafka.Setting {
	row := kafka.Setting{Name: s.Name, Value: s.Value, Type: int8(s.Type), Source: kafka.SourceDefault}
	if s.Own {
		row.Synonyms = append(row.Synonyms, kafka.Synonym{Name: s.Name, Value: s.Value, Source: kafka.SourceTopic})
	}
	row.Synonyms = append(row.Synonyms, b.live.synonyms(s.Broker, s.Default)...)
	if len(row.Synonyms) > 0 {
		row.Source = row.Synonyms[0].Source
	}
	return row
}

func (b *backend) Alter(nowMs int64, r kafka.Resource, a kafka.Alteration) (code int16, message string) {
	switch {
	case r.Kind == kafka.ResourceTopic && r.Name == "":
		return codeInvalidRequest, "settings are given to one topic, by its name"
	case r.Kind == kafka.ResourceTopic:
		return b.alterTopic(nowMs, r.Name, a)
	case r.Kind == kafka.ResourceBroker:
		return b.alterBrokers(nowMs, r.Name, a)
	case r.Kind == kafka.ResourceGroup:
		return refuseGroupSettings(r.Name, a)
	}
	return codeInvalidRequest, fmt.Sprintf("resources of type %d have no settings here; topics (2), brokers (4) and groups (32) have", r.Kind)
}

func (b *backend) alterTopic(nowMs int64, name string, a kafka.Alteration) (code int16, message string) {
	info, ok := b.drive.Cluster().Topic(name)
	if !ok {
		return codeUnknownTopic, fmt.Sprintf("there is no topic %q", name)
	}
	own := map[string]string{}
	if !a.Whole {
		for _, c := range info.Configs {
			own[c.Name] = c.Value
		}
	}
	standard := map[string]string{}
	settings, _ := b.drive.Cluster().TopicSettings(name)
	for _, s := range settings {
		standard[s.Name] = s.Default
	}
	for _, change := range a.Changes {
		list, known := cluster.IsTopicList(change.Name)
		if !known && change.Op == kafka.DeleteSetting {
			continue // it has none of that name
		}
		if !known {
			return codeInvalidConfig, fmt.Sprintf("no topic setting is called %q", change.Name)
		}
		if code, message = change.Apply(own, standard, list); code != 0 {
			return code, message
		}
		if why := b.unkept(change.Name, own[change.Name]); why != "" {
			return codeInvalidConfig, why
		}
	}
	configs := make([]cluster.TopicConfig, 0, len(own))
	for name, value := range own {
		configs = append(configs, cluster.TopicConfig{Name: name, Value: value})
	}
	slices.SortFunc(configs, func(a, b cluster.TopicConfig) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return b.durable(b.drive.Configure(nowMs, name, configs, a.ValidateOnly))
}
