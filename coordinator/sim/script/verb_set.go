package script

import "grouplab/coordinator/sim"

func setVerb() verb {
	return verb{
		name:    "set",
		usage:   "set NAME VALUE",
		help:    "a broker setting, by Kafka's name; those of the group coordinator can be changed while it runs",
		example: "set group.initial.rebalance.delay.ms 0",
		params:  []param{settingParam, {"VALUE", func(string) string { return "" }}},
		quiet:   true,
		do: func(e *Engine, c Command) error {
			s := sim.Setting{Name: c.Args[0].Text, Value: c.Args[1].Text}
			if e.world != nil {
				e.input(c)
				return e.world.Set(s)
			}
			if err := sim.CheckSetting(s); err != nil {
				return err
			}
			e.cfg.Set = append(e.cfg.Set[:len(e.cfg.Set):len(e.cfg.Set)], s)
			return nil
		},
	}
}

var settingParam = param{"NAME", func(s string) string {
	for _, n := range sim.Names() {
		if n == s {
			return ""
		}
	}
	return "no setting is called \"" + s + "\"" + suggest(s, sim.Names(), "; README and sim.Names list them")
}}
