// Keeps the static site for offline use. What the site's pages need is fetched when a version is first seen, and kept
// together under its number: pages of one version never meet the program of another. The network comes first, so that a
// new version is seen at once; where there is none, the version that was kept whole is shown.
"use strict";

// Whoever writes the site puts its version, a sum over all its files, and its files here.
const version = "grouplab-unversioned";
const files = [];
const base = new URL("./", self.location.href);
const usual = ["./", "assets/boot.js", "assets/patch.js", "dist/wasm_exec.js", "dist/lab.wasm.gz", "dist/live.wasm.gz"];

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(version);
    const urls = (files.length ? files : usual).map((path) => new URL(path, base).href);
    // A few at a time: a small host is not to be run over. One that fails ends the installation; the browser tries again.
    while (urls.length) {
      await Promise.all(urls.splice(0, 6).map(async (url) => cache.put(url, await whole(url))));
    }
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

// whole is a file as the host has it now, not as some cache between remembers it.
const whole = async (url) => {
  const answer = await fetch(url, { cache: "no-cache" });
  if (!answer.ok) throw new Error(`${url}: HTTP ${answer.status}`);
  return answer;
};

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
    try {
      return await fetch(request);
    } catch (error) {
      const cache = await caches.open(version);
      const kept = await cache.match(request, { ignoreSearch: true });
      if (kept) return kept;
      throw error;
    }
  };
  event.respondWith(answer());
});
