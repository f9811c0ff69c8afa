package view

import (
	"cmp"
	"slices"

	"grouplab/coordinator/event"
)

// bar is one reason for which partitions stood still.
type bar struct {
	Says, Class, Value string
	Part               float64
}

// lostBars are the partition-seconds lost in the last day by what they were lost to, the most first.
func (s *stage) lostBars(list []Record) (bars []bar, sumMs int64) {
	type key struct {
		why    event.Why
		member string
	}
	sums, order := map[key]int64{}, []key{}
	for i := range list {
		for _, l := range list[i].Lost {
			k := key{l.Why, ""}
			if l.Member != "" {
				k.member = s.labelIn(s.g, l.Member)
			}
			if _, known := sums[k]; !known {
				order = append(order, k)
			}
			sums[k] += l.PartitionMs
			sumMs += l.PartitionMs
		}
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(sums[b], sums[a]) })
	for i, k := range order {
		if i == 6 {
			break
		}
		bars = append(bars, bar{s.lostTo(k.why, k.member), causeClass(k.why), s.t("watch.lost", s.partitionTime(sums[k])), float64(sums[k]) / float64(max(sumMs, 1))})
	}
	return bars, sumMs
}

// lostTo says what partitions waited for.
func (s *stage) lostTo(why event.Why, member string) string {
	key := "watch.lost." + string(why)
	if !s.knows(key) {
		if member == "" {
			return s.why(why, s.t("watch.somebody"))
		}
		return s.why(why, name(member))
	}
	if member == "" {
		return s.t(key, s.t("watch.somebody"))
	}
	return s.t(key, name(member))
}

// blame is what one client brought about.
type blame struct {
	Client, Last, Lost string
	Count              int
	lostMs             int64
}

// blames are the clients that brought about most rebalances.
func (s *stage) blames(list []Record) []blame {
	at := map[string]int{}
	var rows []blame
	for i := range list {
		who := s.triggerOf(&list[i])
		if who == "" {
			who = "—"
		}
		k, known := at[who]
		if !known {
			k = len(rows)
			at[who] = k
			rows = append(rows, blame{Client: who})
		}
		rows[k].Count++
		rows[k].lostMs += list[i].lostMs()
		rows[k].Last = plainText(s.causeOf(&list[i]), 80)
	}
	slices.SortStableFunc(rows, func(a, b blame) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.lostMs, a.lostMs))
	})
	if len(rows) > 6 {
		rows = rows[:6]
	}
	for i := range rows {
		rows[i].Client, rows[i].Lost = name(rows[i].Client), s.partitionTime(rows[i].lostMs)
	}
	return rows
}

// verdicts of the figures: loops, storms and what expires, as sentences.
func (s *stage) warnings(list []Record) []string {
	var said []string
	client, times := s.loop(list)
	if w := s.watchedGroup(); w != nil && w.Summary != nil && w.Summary.Loops > times {
		client, times = s.labelIn(s.g, w.Summary.Member), w.Summary.Loops
	}
	if times > 1 {
		said = append(said, s.t("watch.loop", name(client), num(times)))
	}
	recent := 0
	for i := range list {
		if list[i].StartedMs > s.m.NowMs-600000 {
			recent += 1 + list[i].Unsettled
		}
	}
	if recent >= stormCount {
		said = append(said, s.t("watch.storm", num(recent)))
	}
	if w := s.watchedGroup(); w != nil && w.Summary != nil && s.g.State == event.Empty && w.Summary.ExpiresMs > 0 {
		said = append(said, s.t("watch.expires", s.ago(s.g.SinceMs), s.left(w.Summary.ExpiresMs)))
	}
	return said
}

// stormCount is how many rebalances within ten minutes are called a storm.
const stormCount = 6

// lagRow is one partition's lag as the ecosystem shows it: unknown is —, never 0.
type lagRow struct {
	Partition, Committed, End, Lag, Words string
	Warn                                  bool
	lag                                   int64
}

// lagRows are the partitions of the group on stage, the furthest behind first, and what is known of all of them.
func (s *stage) lagRows() (rows []lagRow, sum int64, unknown int, atMs int64) {
	w := s.watchedGroup()
	if w == nil {
		return nil, 0, 0, 0
	}
	for _, topic := range sortedKeys(w.Lags) {
		l := w.Lags[topic]
		atMs = max(atMs, l.AtMs)
		for _, p := range l.Partitions {
			r := s.lagOf(topic, p)
			if r.lag == lagUnknown {
				unknown++
			} else {
				sum += max(r.lag, 0)
			}
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b lagRow) int {
		if a.Warn != b.Warn {
			if a.Warn {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.lag, a.lag)
	})
	return rows, sum, unknown, atMs
}

const lagUnknown = -1 << 62

func (s *stage) lagOf(topic string, p event.PartitionLag) lagRow {
	r := lagRow{Partition: partitionName(topic, p.Partition), Committed: "—", End: "—", Lag: "—", lag: lagUnknown}
	if key := "watch.lag." + p.Words; s.knows(key) {
		r.Words = s.t(key)
	} else {
		r.Words = plainText(p.Words, 60)
	}
	if p.Committed >= 0 {
		r.Committed = group3(p.Committed)
	}
	if p.End >= 0 {
		r.End = group3(p.End)
	}
	if p.Committed >= 0 && p.End >= 0 {
		r.lag = p.End - p.Committed
		r.Lag = group3(r.lag)
		if r.lag < 0 {
			r.Warn = true
			if r.Words == "" {
				r.Words = s.t("watch.lag.negative")
			}
		}
	}
	return r
}

// sight is a line of the list of what is not seen.
type sight struct{ Source, Why, Since, Right, Hides string }

// sights are what is not seen now.
func (s *stage) sights() []sight {
	w := s.m.Watch()
	if w == nil {
		return nil
	}
	var list []sight
	for _, x := range w.Sights {
		v := sight{Source: plainText(x.Source, 80), Why: plainText(x.Reason, 120), Since: s.ago(x.SinceMs), Right: plainText(x.Right, 80), Hides: plainText(x.Hides, 120)}
		if x.Code != 0 {
			v.Why = event.CodeName(x.Code) + s.t("comma") + v.Why
		}
		list = append(list, v)
	}
	return list
}

// attached is the cluster that is observed; nil where the brokers themselves tell.
func (s *stage) attached() *event.ClusterAttached {
	if w := s.m.Watch(); w != nil {
		return w.Cluster
	}
	return nil
}

// costLine is what observing costs, and which look comes how often.
func (s *stage) costLine() string {
	w := s.m.Watch()
	if w == nil || w.Cost == nil {
		return ""
	}
	requests, bytes := perSecond(w.Cost)
	return s.t("watch.cost", requests, bytes)
}

// watchVerdicts are the newest commits that were refused, or all where these are asked for; and how many there are of each.
func (s *stage) watchVerdicts() (list []verdict, refused, all int) {
	for _, v := range s.verdicts(maxLedger * 2) {
		all++
		if v.Class == "refused" {
			refused++
		} else if !s.o.Listing.Commits {
			continue
		}
		if len(list) < 12 {
			list = append(list, v)
		}
	}
	return list, refused, all
}
