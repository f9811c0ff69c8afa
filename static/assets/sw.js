// Keeps the static site for offline use. The network comes first, so that a new version is seen at once; what was seen
// before is shown where there is no network. Raise the version when what is kept can no longer be used together.
"use strict";

const version = "grouplab-1";
const base = new URL("./", self.location.href);
const first = ["", "assets/base.css", "assets/stage.css", "assets/chart.css", "assets/page.css", "assets/theme.js", "assets/boot.js", "dist/wasm_exec.js", "dist/lab.wasm.gz"];

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(version);
    await Promise.all(first.map((path) => cache.add(new URL(path, base)).catch(() => {}))); // the rest is kept when it is seen
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const clean = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("grouplab-") && name !== version) await caches.delete(name);
    }
    await self.clients.claim();
  };
  event.waitUntil(clean());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const ours = url.origin === base.origin && url.pathname.startsWith(base.pathname);
  if (request.method !== "GET" || !ours || url.pathname.startsWith(base.pathname + "api/")) return;
  const answer = async () => {
    const cache = await caches.open(version);
    try {
      const fresh = await fetch(request);
      // The plain program is only asked for to see whether the host packs it; boot.js then stops it.
      if (fresh.ok && !(url.pathname.endsWith("lab.wasm") && !fresh.headers.get("Content-Encoding"))) {
        event.waitUntil(cache.put(request, fresh.clone()));
      }
      return fresh;
    } catch (error) {
      const kept = await cache.match(request, { ignoreSearch: true });
      if (kept) return kept;
      throw error;
    }
  };
  event.respondWith(answer());
});
