package tab

import (
	"testing"

	"grouplab/static/view"
)

func TestWaitsInWords(t *testing.T) {
	for condition, want := range map[string][2]string{
		"event CoordinatorFound client=c1":                             {"c1 has found its coordinator", "c1 找到协调者"},
		"state Stable and generation >= 5 and client c3 UP":            {"the group is Stable, its generation is 5 or later and c3 is UP", "消费组处于 Stable，到了第 5 代或更晚，c3 处于 UP"},
		"event HeartbeatReceived member=c1 code=REBALANCE_IN_PROGRESS": {"a heartbeat of c1 is answered REBALANCE_IN_PROGRESS", "c1 的心跳得到 REBALANCE_IN_PROGRESS"},
		"owner orders-5 c1 and unowned == 0":                           {"c1 owns orders-5 and every partition has an owner", "orders-5 归 c1，每个分区都有所有者"},
		"event LogCut epoch=3":                                         {"what it is about has happened", "这一步要看的事发生"},
	} {
		for i, lang := range []view.Lang{view.English, view.Chinese} {
			if got := waitWords(condition, lang); got != want[i] {
				t.Errorf("%q in %s: %q, want %q", condition, lang, got, want[i])
			}
		}
	}
}

// TestGoalsInChinese: what a goal lacks is said in the page's language.
func TestGoalsInChinese(t *testing.T) {
	for now, want := range map[string]string{
		"state is Empty; there are 2 members":           "现在是 Empty；现在有 2 个成员",
		"c2 is REBALANCING":                             "c2 处于 REBALANCING",
		"2 partitions have no owner: orders-0 orders-1": "2 个分区没有所有者：orders-0 orders-1",
		"it is 00:00:03.000":                            "现在是 00:00:03.000",
	} {
		if got := nowWords(now, view.Chinese); got != want {
			t.Errorf("%q: %q, want %q", now, got, want)
		}
		if got := nowWords(now, view.English); got != now {
			t.Errorf("English %q became %q", now, got)
		}
	}
}
