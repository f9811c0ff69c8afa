package view

import "testing"

func TestOneIsNotMany(t *testing.T) {
	for n, want := range map[string]string{"0": "Waiting for nobody: 0 members are served", "1": "Waiting for nobody: 1 member is served",
		"12": "Waiting for nobody: 12 members are served"} {
		if got := English.T("head.stable", n); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if got := Chinese.T("head.stable", "1"); got != "无需等待：1 个成员都在工作" {
		t.Error(got)
	}
}
