package app

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"grouplab/coordinator/cluster"
	"grouplab/server/kafka"
)

// perBroker are those of the dynamic settings that can differ from broker to broker here. The others are the logs', which the
// brokers of this process share.
var perBroker = map[string]bool{"max.connections": true, "max.connections.per.ip": true}

// scopeOf is what the names of a resource's settings begin with in liveSettings.told: nothing for those of all brokers, the
// broker's id and a colon for its own.
func (b *backend) scopeOf(resource string) (scope string, id int32, ok bool) {
	if resource == "" {
		return "", 0, true
	}
	n, err := strconv.ParseInt(resource, 10, 32)
	if err != nil || n < 1 || int32(n) > b.drive.Cluster().Brokers() {
		return "", 0, false
	}
	return strconv.FormatInt(n, 10) + ":", int32(n), true
}

// inScope takes a setting's name out of a scope.
func inScope(scope, key string) (name string, ok bool) {
	if scope == "" {
		return key, !strings.Contains(key, ":")
	}
	return strings.CutPrefix(key, scope)
}

// alterBrokers changes what all brokers share, or what one has for itself, as far as Kafka lets it be changed while brokers run.
func (b *backend) alterBrokers(nowMs int64, resource string, a kafka.Alteration) (code int16, message string) {
	scope, id, ok := b.scopeOf(resource)
	if !ok {
		return codeInvalidRequest, fmt.Sprintf("there is no broker %q; there are 1 to %d, and \"\" stands for all", resource, b.drive.Cluster().Brokers())
	}
	own, told := map[string]string{}, map[string]string{}
	for key, value := range b.live.told {
		name, mine := inScope(scope, key)
		switch {
		case !mine:
			told[key] = value
		case !a.Whole:
			own[name] = value
		}
	}
	for _, change := range a.Changes {
		if code, message = b.changeBroker(own, id, change); code != 0 {
			return code, message
		}
	}
	for name, value := range own {
		told[scope+name] = value
	}
	next, err := b.live.with(told)
	if err == nil {
		err = next.check(b.drive.Cluster().Brokers())
	}
	switch {
	case err != nil:
		return codeInvalidRequest, err.Error()
	case !a.ValidateOnly:
		b.live.told = told
		b.apply(nowMs, next)
		if b.data != nil {
			b.data.settings = told
			b.data.saved = -1
		}
	}
	return b.durable(0, "")
}

// changeBroker makes one change of a broker setting, where it is one that may be made.
func (b *backend) changeBroker(own map[string]string, id int32, change kafka.SettingChange) (code int16, message string) {
	i := slices.IndexFunc(known, func(k setting) bool { return k.name == change.Name })
	switch {
	case i < 0:
		return codeInvalidConfig, fmt.Sprintf("no broker setting is called %q; the nearest is %s", change.Name, nearest(change.Name))
	case !dynamic[change.Name]:
		return codeInvalidRequest, fmt.Sprintf("%s cannot be changed while brokers run; start the server with -set %s=…", change.Name, change.Name)
	case id > 0 && b.drive.Cluster().Brokers() > 1 && !perBroker[change.Name]:
		return codeInvalidRequest, fmt.Sprintf("the brokers of this cluster share %s: name none of them, but \"\" (--entity-default)", change.Name)
	}
	if code, message = change.Apply(own, nil, false); code != 0 {
		return code, message
	}
	if value, set := own[change.Name]; set {
		if _, ok := known[i].read(value); !ok {
			return codeInvalidRequest, fmt.Sprintf("%s takes %s, not %q", change.Name, known[i].values(), value)
		}
	}
	return 0, ""
}

// apply lets everybody know of changed settings.
func (b *backend) apply(nowMs int64, s settings) {
	b.drive.Reconfigure(nowMs, func(c *cluster.Config) {
		c.MinInsyncReplicas, c.MaxMessageBytes, c.SegmentBytes = s.cluster.MinInsyncReplicas, s.cluster.MaxMessageBytes, s.cluster.SegmentBytes
		c.RetentionMs, c.RetentionBytes = s.cluster.RetentionMs, s.cluster.RetentionBytes
		c.CleanerBackoffMs, c.MinCleanableRatio, c.DeleteRetentionMs = s.cluster.CleanerBackoffMs, s.cluster.MinCleanableRatio, s.cluster.DeleteRetentionMs
		c.MinCompactionLagMs, c.MaxCompactionLagMs = s.cluster.MinCompactionLagMs, s.cluster.MaxCompactionLagMs
	})
	b.drive.ConfigChanged(nowMs, s.group)
	for id := int32(1); id <= b.drive.Cluster().Brokers(); id++ {
		own := b.live.of(id, s)
		b.kafka.SetMaxConnections(id, own.kafka.MaxConnections, own.kafka.MaxConnectionsPerIP)
	}
}

// of is the settings of one broker: what it was told for itself goes before what all were.
func (l *liveSettings) of(id int32, all settings) settings {
	scope, own := strconv.Itoa(int(id))+":", map[string]string{}
	for key, value := range l.told {
		if name, mine := inScope(scope, key); mine {
			own[name] = value
		}
	}
	_ = all.apply(pairs(own)) // they were right when they were told
	return all
}

// pairs are settings as -set takes them, by name.
func pairs(told map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(told)) {
		list = append(list, name+"="+told[name])
	}
	return list
}
