package app

import "grouplab/server/web/site"

// WriteSite writes the lessons as a folder of static files; see package site.
func WriteSite(dir string) error { return site.Write(dir) }
