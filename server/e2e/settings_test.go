package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"grouplab/server/app"
	bare "grouplab/server/e2e/wire"
)

const ofGroup, ofBroker = kmsg.ConfigResourceTypeGroupConfig, kmsg.ConfigResourceTypeBroker

func describeSettings(w *wire, kind kmsg.ConfigResourceType, resource string, names ...string) kmsg.DescribeConfigsResponseResource {
	r := kmsg.NewPtrDescribeConfigsRequest()
	r.Version, r.IncludeSynonyms = 4, true
	one := kmsg.NewDescribeConfigsRequestResource()
	one.ResourceType, one.ResourceName, one.ConfigNames = kind, resource, names
	r.Resources = append(r.Resources, one)
	return ask[*kmsg.DescribeConfigsResponse](w, r).Resources[0]
}

// set changes one setting; value nil takes it away.
func set(w *wire, kind kmsg.ConfigResourceType, resource, name string, value *string) (int16, string) {
	r := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r.Version = 1
	one, change := kmsg.NewIncrementalAlterConfigsRequestResource(), kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	one.ResourceType, one.ResourceName = kind, resource
	if change.Name, change.Value = name, value; value == nil {
		change.Op = kmsg.IncrementalAlterConfigOpDelete
	}
	one.Configs = append(one.Configs, change)
	r.Resources = append(r.Resources, one)
	got := ask[*kmsg.IncrementalAlterConfigsResponse](w, r).Resources[0]
	if got.ErrorMessage == nil {
		return got.ErrorCode, ""
	}
	return got.ErrorCode, *got.ErrorMessage
}

// sources are where a setting is said, the one that counts first, with room for four.
func sources(c kmsg.DescribeConfigsResponseResourceConfig) (list []string) {
	list = make([]string, 0, 4)
	for _, s := range c.ConfigSynonyms {
		list = append(list, fmt.Sprintf("%s=%s from %d", s.Name, *s.Value, s.Source))
	}
	return list
}

// TestGroupSettings: a group's settings (kafka-configs --entity-type groups) are those of the consumer protocol, with their
// defaults, and cannot be changed.
func TestGroupSettings(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	got := describeSettings(w, ofGroup, "orders-svc")
	if got.ErrorCode != 0 || len(got.Configs) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, c := range got.Configs {
		if !c.ReadOnly || c.Source != kmsg.ConfigSourceDefaultConfig || !strings.HasPrefix(c.Name, "consumer.") {
			t.Errorf("%+v", c)
		}
	}
	if got := describeSettings(w, ofGroup, ""); got.ErrorCode != kerr.InvalidRequest.Code {
		t.Errorf("no group: %s", name(got.ErrorCode))
	}
	value := "30000"
	for _, c := range []struct {
		group, setting string
		value          *string
		code           int16
		says           string
	}{
		{"orders-svc", "consumer.session.timeout.ms", &value, kerr.InvalidConfig.Code, "KIP-848"},
		{"orders-svc", "colour", &value, kerr.InvalidConfig.Code, `no group setting is called "colour"`},
		{"", "consumer.session.timeout.ms", &value, kerr.InvalidRequest.Code, "one group"},
		{"orders-svc", "consumer.session.timeout.ms", nil, 0, ""},
	} {
		if code, says := set(w, ofGroup, c.group, c.setting, c.value); code != c.code || !strings.Contains(says, c.says) {
			t.Errorf("%s of %q: %s %q", c.setting, c.group, name(code), says)
		}
	}
}

// TestSettingsOfOneBroker: what one broker is told goes before what all were, is its own, is kept over a restart, and has effect.
func TestSettingsOfOneBroker(t *testing.T) {
	dir := t.TempDir()
	start := func() *app.Server {
		return startServer(t, app.Config{Kafka: "127.0.0.1:0", Brokers: 2, Data: dir, Set: append([]string{"max.connections=50"}, quick...)})
	}
	s := start()
	one, two := dial(t, s.KafkaAddrs()[0]), dial(t, s.KafkaAddrs()[1])
	for _, c := range []struct {
		resource, setting, value string
		code                     int16
	}{
		{"", "max.connections", "40", 0}, {"1", "max.connections", "3", 0}, {"1", "max.connections", "many", kerr.InvalidRequest.Code},
		{"3", "max.connections", "3", kerr.InvalidRequest.Code}, {"x", "max.connections", "3", kerr.InvalidRequest.Code},
		{"1", "log.retention.ms", "5000", kerr.InvalidRequest.Code}, {"1", "num.partitions", "5", kerr.InvalidRequest.Code},
	} {
		if code, says := set(one, ofBroker, c.resource, c.setting, &c.value); code != c.code {
			t.Errorf("%s=%s of %q: %s %q", c.setting, c.value, c.resource, name(code), says)
		}
	}
	check := func(one, two *wire) {
		t.Helper()
		for _, c := range []struct {
			w        *wire
			resource string
			source   kmsg.ConfigSource
			said     []string
		}{
			{one, "1", kmsg.ConfigSourceDynamicBrokerConfig, []string{"max.connections=3 from 2", "max.connections=40 from 3", "max.connections=50 from 4"}},
			{two, "2", kmsg.ConfigSourceDynamicDefaultBrokerConfig, []string{"max.connections=40 from 3", "max.connections=50 from 4"}},
			{two, "", kmsg.ConfigSourceDynamicDefaultBrokerConfig, []string{"max.connections=40 from 3", "max.connections=50 from 4"}},
		} {
			got := describeSettings(c.w, ofBroker, c.resource, "max.connections")
			if got.ErrorCode != 0 || len(got.Configs) != 1 || got.Configs[0].Source != c.source || !slices.Equal(sources(got.Configs[0])[:len(c.said)], c.said) {
				t.Errorf("of %q: %+v, want %v", c.resource, got, c.said)
			}
		}
	}
	check(one, two)
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 9
	crowded := func(address string) bool {
		for range 4 {
			c, err := bare.Dial(address, "one of many")
			if err != nil {
				return true
			}
			defer c.Close()
			if _, err := c.Ask(metadata, bare.Patience); err != nil {
				return true
			}
		}
		return false
	}
	if !crowded(s.KafkaAddrs()[0]) || crowded(s.KafkaAddrs()[1]) {
		t.Error("broker 1 may have 3 connections, broker 2 may have 40: it is not so")
	}
	s.Close()
	s = start()
	check(dial(t, s.KafkaAddrs()[0]), dial(t, s.KafkaAddrs()[1]))
	w := dial(t, s.KafkaAddrs()[1])
	if code, says := set(w, ofBroker, "1", "max.connections", nil); code != 0 {
		t.Fatal(name(code), says)
	}
	eventually(t, 20*time.Second, func() error {
		if crowded(s.KafkaAddrs()[0]) {
			return fmt.Errorf("broker 1 still has its bound")
		}
		return nil
	})
}

// TestSettingsOfTheOnlyBroker: where there is one broker, its own settings are everybody's, and topics follow them.
func TestSettingsOfTheOnlyBroker(t *testing.T) {
	w := dial(t, kafkaServer(t, 1).KafkaAddrs()[0])
	value := "5000"
	if code, says := set(w, ofBroker, "1", "message.max.bytes", &value); code != 0 {
		t.Fatal(name(code), says)
	}
	got := describeSettings(w, kmsg.ConfigResourceTypeTopic, "orders", "max.message.bytes")
	if len(got.Configs) != 1 || *got.Configs[0].Value != value || got.Configs[0].Source != kmsg.ConfigSourceDynamicBrokerConfig {
		t.Errorf("a topic's: %+v", got)
	}
	got = describeSettings(w, ofBroker, "1", "message.max.bytes")
	if len(got.Configs) != 1 || got.Configs[0].Source != kmsg.ConfigSourceDynamicBrokerConfig || len(got.Configs[0].ConfigSynonyms) != 2 {
		t.Errorf("the broker's: %+v", got)
	}
}
