package view

// wordsOfBranches are the words of branches and comparisons.
var wordsOfBranches = map[string]Text{
	"head.txn":            {"offsets are not stable until the transaction of producer {0} ends, open for {1}", "生产者 {0} 的事务结束前位移不稳定，已打开 {1}"},
	"head.txn.until":      {"offsets are not stable until the transaction of producer {0} ends, open for {1}, in {2} at the latest", "生产者 {0} 的事务结束前位移不稳定，已打开 {1}，最迟 {2} 后结束"},
	"cap.branches":        {"Branches", "分支"},
	"branch.go":           {"go there", "去那里"},
	"branch.go.says":      {"go there: the branch {0}", "去那里：分支 {0}"},
	"branch.compare":      {"compare", "比较"},
	"branch.compare.says": {"compare with the branch: {0}", "与分支比较：{0}"},
	"branch.cut":          {"delete", "删除"},
	"branch.cut.says":     {"delete the branch: {0}", "删除分支：{0}"},
	"compare.own":         {"compare with the run without your acts", "与没有你操作的运行比较"},
	"compare.cap":         {"Two runs on one axis", "同一时间轴上的两次运行"},
	"compare.close":       {"close (Esc)", "关闭（Esc）"},
	"compare.this":        {"this run", "本次运行"},
	"compare.rebalance":   {"rebalancing", "再均衡"},
	"compare.waited":      {"{0} waited", "{0} 等待"},
	"compare.lost":        {"partition-seconds lost", "损失的分区·秒"},
	"compare.difference":  {"difference", "差别"},
	"compare.less":        {"{0} less", "少 {0}"},
	"compare.more":        {"{0} more", "多 {0}"},
	"compare.same":        {"the same", "一样"},
	"compare.table":       {"Waits of both runs since they part", "分开以后两次运行的等待"},
	"compare.says":        {"This run since they part: {0} of rebalancing, {1}; {2} partition-seconds lost, {3}.", "分开以后本次运行：再均衡 {0}（{1}）；损失 {2} 分区·秒（{3}）。"},
	"compare.nothing":     {"The group is not there in both runs: there is nothing to compare.", "两次运行中并非都有这个组，没有可比较的。"},
}
