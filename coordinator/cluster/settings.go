package cluster

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// SettingType is the type of a setting's value, by Kafka's numbers (DescribeConfigsResponse.ConfigType).
type SettingType int8

// The types that topic settings have.
const (
	TypeBoolean SettingType = 1
	TypeString  SettingType = 2
	TypeInt     SettingType = 3
	TypeLong    SettingType = 5
	TypeDouble  SettingType = 6
	TypeList    SettingType = 7
)

// TopicSetting describes one of Kafka's topic settings and what it is for one topic.
type TopicSetting struct {
	Name string
	Type SettingType
	// Value is the topic's, Default what it is without the topic's own word.
	Value, Default string
	// Own is set where the topic says it itself.
	Own bool
	// Broker is the broker setting that it follows otherwise, "" where there is none.
	Broker string
}

// topicSetting is a row of the table of all topic settings.
type topicSetting struct {
	name   string
	kind   SettingType
	broker string
	// standard is Kafka's default; from takes the place of it where the cluster's configuration has one. oneOf are the
	// words that are allowed, where there are only some.
	standard string
	from     func(c *Config) string
	oneOf    []string
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

const forever = "9223372036854775807"

// topicSettings are those of Kafka 4.0, by name. Those that mean something here are read in configure.
var topicSettings = []topicSetting{
	{name: "cleanup.policy", kind: TypeList, broker: "log.cleanup.policy", standard: "delete"},
	{name: "compression.gzip.level", kind: TypeInt, broker: "compression.gzip.level", standard: "-1"},
	{name: "compression.lz4.level", kind: TypeInt, broker: "compression.lz4.level", standard: "9"},
	{name: "compression.type", kind: TypeString, broker: "compression.type", standard: "producer", oneOf: []string{"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"}},
	{name: "compression.zstd.level", kind: TypeInt, broker: "compression.zstd.level", standard: "3"},
	{name: "delete.retention.ms", kind: TypeLong, broker: "log.cleaner.delete.retention.ms", from: func(c *Config) string { return whole(c.DeleteRetentionMs) }},
	{name: "file.delete.delay.ms", kind: TypeLong, broker: "log.segment.delete.delay.ms", standard: "60000"},
	{name: "flush.messages", kind: TypeLong, broker: "log.flush.interval.messages", standard: forever},
	{name: "flush.ms", kind: TypeLong, broker: "log.flush.interval.ms", standard: forever},
	{name: "follower.replication.throttled.replicas", kind: TypeList},
	{name: "index.interval.bytes", kind: TypeInt, broker: "log.index.interval.bytes", standard: "4096"},
	{name: "leader.replication.throttled.replicas", kind: TypeList},
	{name: "local.retention.bytes", kind: TypeLong, broker: "log.local.retention.bytes", standard: "-2"},
	{name: "local.retention.ms", kind: TypeLong, broker: "log.local.retention.ms", standard: "-2"},
	{name: "max.compaction.lag.ms", kind: TypeLong, broker: "log.cleaner.max.compaction.lag.ms", from: func(c *Config) string { return whole(c.MaxCompactionLagMs) }},
	{name: "max.message.bytes", kind: TypeInt, broker: "message.max.bytes", from: func(c *Config) string { return whole(int64(c.MaxMessageBytes)) }},
	{name: "message.timestamp.after.max.ms", kind: TypeLong, broker: "log.message.timestamp.after.max.ms", standard: "3600000"},
	{name: "message.timestamp.before.max.ms", kind: TypeLong, broker: "log.message.timestamp.before.max.ms", standard: forever},
	{name: "message.timestamp.type", kind: TypeString, broker: "log.message.timestamp.type", standard: "CreateTime", oneOf: []string{"CreateTime", "LogAppendTime"}},
	{name: "min.cleanable.dirty.ratio", kind: TypeDouble, broker: "log.cleaner.min.cleanable.ratio", from: func(c *Config) string {
		return strconv.FormatFloat(c.MinCleanableRatio, 'g', -1, 64)
	}},
	{name: "min.compaction.lag.ms", kind: TypeLong, broker: "log.cleaner.min.compaction.lag.ms", from: func(c *Config) string { return whole(c.MinCompactionLagMs) }},
	{name: "min.insync.replicas", kind: TypeInt, broker: "min.insync.replicas", from: func(c *Config) string { return whole(int64(c.MinInsyncReplicas)) }},
	{name: "preallocate", kind: TypeBoolean, broker: "log.preallocate", standard: "false"},
	{name: "remote.log.copy.disable", kind: TypeBoolean, standard: "false"},
	{name: "remote.log.delete.on.disable", kind: TypeBoolean, standard: "false"},
	{name: "remote.storage.enable", kind: TypeBoolean, standard: "false", oneOf: []string{"false"}},
	{name: "retention.bytes", kind: TypeLong, broker: "log.retention.bytes", from: func(c *Config) string { return whole(c.RetentionBytes) }},
	{name: "retention.ms", kind: TypeLong, broker: "log.retention.ms", from: func(c *Config) string { return whole(c.RetentionMs) }},
	{name: "segment.bytes", kind: TypeInt, broker: "log.segment.bytes", from: func(c *Config) string { return whole(int64(c.SegmentBytes)) }},
	{name: "segment.index.bytes", kind: TypeInt, broker: "log.index.size.max.bytes", standard: "10485760"},
	{name: "segment.jitter.ms", kind: TypeLong, broker: "log.roll.jitter.ms", standard: "0"},
	{name: "segment.ms", kind: TypeLong, broker: "log.roll.ms", standard: "604800000"},
	{name: "unclean.leader.election.enable", kind: TypeBoolean, broker: "unclean.leader.election.enable", standard: "false"},
}

func (s *topicSetting) byDefault(c *Config) string {
	if s.from != nil {
		return s.from(c)
	}
	return s.standard
}

// tidy is a value without the blanks that Kafka's ConfigDef takes away.
func (s *topicSetting) tidy(value string) string {
	if s.kind != TypeList {
		return strings.TrimSpace(value)
	}
	items := strings.Split(value, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return strings.Join(items, ",")
}

// fits tells whether a value is of the setting's type. Bounds are configure's.
func (s *topicSetting) fits(value string) error {
	var err error
	switch s.kind {
	case TypeInt:
		_, err = strconv.ParseInt(value, 10, 32)
	case TypeLong:
		_, err = strconv.ParseInt(value, 10, 64)
	case TypeDouble:
		_, err = strconv.ParseFloat(value, 64)
	case TypeBoolean:
		if v := strings.ToLower(value); v != "true" && v != "false" {
			return fmt.Errorf("it is true or false")
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("it is a number that fits")
	case s.oneOf != nil && !slices.Contains(s.oneOf, value):
		return fmt.Errorf("it is one of %s", strings.Join(s.oneOf, ", "))
	}
	return nil
}

// least is the smallest value of a number.
func (s *topicSetting) least() int64 {
	switch s.name {
	case "compression.zstd.level":
		return -131072
	case "local.retention.ms", "local.retention.bytes":
		return -2
	case "retention.ms", "retention.bytes", "compression.gzip.level":
		return -1
	case "min.insync.replicas", "segment.ms", "max.compaction.lag.ms", "compression.lz4.level", "flush.messages":
		return 1
	case "segment.index.bytes":
		return 4
	case "segment.bytes":
		return 14
	case "flush.ms", "index.interval.bytes", "file.delete.delay.ms", "segment.jitter.ms", "max.message.bytes", "message.timestamp.after.max.ms", "message.timestamp.before.max.ms", "delete.retention.ms", "min.compaction.lag.ms":
		return 0
	}
	return math.MinInt64
}

// most is the largest value of a number.
func (s *topicSetting) most() int64 {
	switch s.name {
	case "compression.gzip.level":
		return 9
	case "compression.lz4.level":
		return 17
	case "compression.zstd.level":
		return 22
	}
	return math.MaxInt64
}

// throttled tells whether a value is "*" or a list such as 0:1,1:2, of partitions and brokers (Kafka:
// ThrottledReplicaListValidator).
func throttled(value string) bool {
	if value == "" || value == "*" {
		return true
	}
	for _, pair := range strings.Split(value, ",") {
		partition, broker, _ := strings.Cut(strings.TrimSpace(pair), ":")
		for _, n := range []string{partition, broker} {
			if _, err := strconv.ParseUint(n, 10, 31); err != nil {
				return false
			}
		}
	}
	return true
}

// put notes a value that fits, where it means something here.
func (s *topicSetting) put(t *topic, c *Config, value string) error {
	n, _ := strconv.ParseInt(value, 10, 64)
	if least := s.least(); n < least && (s.kind == TypeInt || s.kind == TypeLong) {
		return fmt.Errorf("it is at least %d", least)
	}
	switch {
	case n > s.most() && s.kind == TypeInt:
		return fmt.Errorf("it is at most %d", s.most())
	case n == 0 && s.name == "compression.gzip.level":
		return fmt.Errorf("it is -1, or 1 to 9")
	case strings.HasSuffix(s.name, ".throttled.replicas") && !throttled(value):
		return fmt.Errorf("it is * or a list as 0:1,1:2 of partitions and brokers")
	}
	switch s.name {
	case "min.insync.replicas":
		t.minInsync = int16(min(n, math.MaxInt16))
	case "max.message.bytes":
		t.maxMessageBytes = int(min(n, 100<<20))
	case "segment.bytes":
		t.segmentBytes = int(min(n, int64(c.SegmentBytes)))
	case "segment.ms":
		t.segmentMs = n
	case "retention.ms":
		t.retentionMs = n
	case "retention.bytes":
		t.retentionBytes = n
	case "message.timestamp.after.max.ms":
		t.timestampAfterMs = n
	case "message.timestamp.before.max.ms":
		t.timestampBeforeMs = n
	case "delete.retention.ms":
		t.deleteRetentionMs = n
	case "min.compaction.lag.ms":
		t.minLagMs = n
	case "max.compaction.lag.ms":
		t.maxLagMs = n
	case "min.cleanable.dirty.ratio":
		ratio, _ := strconv.ParseFloat(value, 64)
		if !(ratio >= 0 && ratio <= 1) {
			return fmt.Errorf("it goes from 0 to 1")
		}
		t.minDirtyRatio = ratio
	case "message.timestamp.type":
		t.stamps = value == "LogAppendTime"
	case "unclean.leader.election.enable":
		t.unclean = strings.EqualFold(value, "true")
	case "cleanup.policy":
		return t.putPolicy(value)
	}
	return nil
}

func (t *topic) putPolicy(value string) error {
	if t.compacted, t.deletes = false, false; value == "" {
		return nil
	}
	for _, policy := range strings.Split(value, ",") {
		switch strings.TrimSpace(policy) {
		case "compact":
			t.compacted = true
		case "delete":
			t.deletes = true
		default:
			return fmt.Errorf("it is compact, delete or both")
		}
	}
	return nil
}

// settingOf finds a topic setting by name, nil where Kafka has none of that name.
func settingOf(name string) *topicSetting {
	for i := range topicSettings {
		if topicSettings[i].name == name {
			return &topicSettings[i]
		}
	}
	return nil
}

// TopicSettings lists all settings of a topic, by name; ok is false where there is no such topic.
func (c *Cluster) TopicSettings(name string) (list []TopicSetting, ok bool) {
	if t := c.byName[name]; t != nil {
		return c.settingsOf(t.configs), true
	}
	return nil, false
}

// Planned tells what a topic would have that is created like this: its numbers without defaults, and its settings.
func (c *Cluster) Planned(spec TopicSpec) (partitions int32, replicas int16, list []TopicSetting) {
	if partitions, replicas = spec.Partitions, spec.Replicas; partitions == -1 {
		partitions = c.cfg.DefaultPartitions
	}
	if replicas == -1 {
		replicas = c.cfg.DefaultReplicas
	}
	return partitions, replicas, c.settingsOf(spec.Configs)
}

func (c *Cluster) settingsOf(configs []TopicConfig) (list []TopicSetting) {
	for i := range topicSettings {
		s := &topicSettings[i]
		row := TopicSetting{Name: s.name, Type: s.kind, Broker: s.broker, Default: s.byDefault(&c.cfg)}
		row.Value = row.Default
		for _, own := range configs { // the last word counts
			if own.Name == s.name {
				row.Value, row.Own = s.tidy(own.Value), true
			}
		}
		list = append(list, row)
	}
	return list
}

// IsTopicList tells whether a topic setting takes a list, to which something can be appended; known is false where no
// topic setting has that name.
func IsTopicList(name string) (list, known bool) {
	s := settingOf(name)
	return s != nil && s.kind == TypeList, s != nil
}

// Configure gives a topic its own settings in place of those that it had; the rest follows the brokers'. The code is
// Kafka's: 3 where there is no such topic, 40 for a setting. validateOnly checks and changes nothing.
func (c *Cluster) Configure(nowMs int64, name string, configs []TopicConfig, validateOnly bool) (code int16, message string) {
	c.at(nowMs)
	t := c.byName[name]
	if t == nil {
		return codeUnknownTopicOrPartition, fmt.Sprintf("there is no topic %q", name)
	}
	changed := *t
	changed.configs = slices.Clone(configs)
	if code, message = c.configureNew(&changed); code != codeNone || validateOnly {
		return code, message
	}
	*t = changed
	c.changes++
	c.reconfigured(t)
	return codeNone, ""
}

// Reconfigure changes the brokers' settings, which topics follow that do not say otherwise. change may touch
// MinInsyncReplicas, MaxMessageBytes, RetentionMs, RetentionBytes, RetentionCheckMs, SegmentBytes and the cleaner's.
func (c *Cluster) Reconfigure(nowMs int64, change func(*Config)) {
	c.at(nowMs)
	change(&c.cfg)
	for _, t := range c.topics {
		if code, message := c.configure(t); code != codeNone {
			panic(fmt.Sprintf("cluster: settings of %s that were right are wrong now: %s", t.name, message))
		}
		c.reconfigured(t)
	}
}

// reconfigured lets the logs and leaders of a topic know of its settings.
func (c *Cluster) reconfigured(t *topic) {
	for _, index := range t.partitions {
		p := c.partitions[index]
		for i := range p.replicas {
			p.replicas[i].log.Resize(t.segmentBytes, t.segmentMs)
		}
		if t.compacted {
			c.wantsCleaning(p)
		}
		switch {
		case c.Running(p.leader):
			c.advanceWatermark(p, 0)
		case p.leader < 0 && t.unclean:
			c.electAny(p)
		}
	}
	c.setRetainTick()
}

// setRetainTick keeps the time of the next look for what is too much or too old (log.retention.check.interval.ms). Topics
// that say nothing of retention are looked at when a segment is full, which is the first time that it can matter to them.
func (c *Cluster) setRetainTick() {
	if c.retainTickMs >= 0 || !slices.ContainsFunc(c.topics, (*topic).watched) {
		return
	}
	every := max(1, c.cfg.RetentionCheckMs)
	c.retainTickMs = c.startMs + ((c.nowMs-c.startMs)/every+1)*every
}

// watched tells whether the topic says itself what is kept of it.
func (t *topic) watched() bool {
	return t.deletes && slices.ContainsFunc(t.configs, func(s TopicConfig) bool { return s.Name == "retention.ms" || s.Name == "retention.bytes" })
}

// retainAll is LogManager.cleanupLogs. A segment that is written to and wholly too old is closed first, as in
// UnifiedLog.deleteSegments.
func (c *Cluster) retainAll() {
	c.retainTickMs = -1
	for _, t := range c.topics {
		if !t.watched() {
			continue
		}
		for _, index := range t.partitions {
			p := c.partitions[index]
			if !c.Running(p.leader) {
				continue
			}
			c.retainPartition(p)
		}
	}
	c.setRetainTick()
}

func (c *Cluster) retainPartition(p *partition) {
	leader := p.local()
	if p.topic.retentionMs >= 0 {
		if err := leader.log.CloseOld(c.nowMs-p.topic.retentionMs, leader.hw); err != nil {
			return // a disk that fails is noticed by the next append
		}
	}
	_ = c.retain(p, leader, leader.log.StartOffset())
	for i := range p.replicas {
		if r := &p.replicas[i]; r.broker != p.leader && c.Running(r.broker) {
			c.followStart(r, leader.log.StartOffset())
		}
	}
}

// followStart lets a follower's log begin where the leader's does.
func (c *Cluster) followStart(r *replica, start int64) {
	if start <= r.log.EndOffset() && r.log.DeleteBefore(start) == nil {
		r.hw = max(r.hw, r.log.StartOffset())
	}
}
