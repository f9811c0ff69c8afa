package cluster

// OwnSetting is what a topic itself says of a setting; ok is false where it follows the brokers, and where there is no such topic.
func (c *Cluster) OwnSetting(topic, name string) (value string, ok bool) {
	t := c.byName[topic]
	if t == nil {
		return "", false
	}
	for _, own := range t.configs { // the last word counts
		if own.Name == name {
			value, ok = own.Value, true
		}
	}
	return value, ok
}
