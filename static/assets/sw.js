// Keeps the static site for offline use. The network comes first, so that a new version is seen at once; what was seen
// before is shown where there is no network. Raise the version when what is kept can no longer be used together.
"use strict";

const version = "grouplab-1";
const base = new URL("./", self.location.href);
// What no link of the first page leads to.
const more = ["assets/boot.js", "dist/wasm_exec.js", "dist/lab.wasm.gz"];

// linked are the addresses below base that a page names: stylesheets, fonts, lessons.
const linked = (html) =>
  [...html.matchAll(/(?:href|src)="([^"#:]+)/g)].map((m) => new URL(m[1], base)).filter((url) => url.href.startsWith(base.href));

self.addEventListener("install", (event) => {
  const keep = async () => {
    const cache = await caches.open(version);
    const page = await fetch(base);
    const urls = [base, ...linked(await page.text()), ...more.map((path) => new URL(path, base))];
    // What fails now is kept when it is seen.
    await Promise.all([...new Set(urls.map((url) => url.href))].map((url) => cache.add(url).catch(() => {})));
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
