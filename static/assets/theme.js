// What a viewer chose about the page itself: language, theme, motion. It runs before the first paint, so that nothing
// flashes, and it works on pages that start no program. The choices stand as attributes of <html>: lang, data-theme
// (auto, light, dark), data-motion (full, reduced, none). The program reads them there; it is told of the same clicks
// afterwards, with the event "grouplab:chosen" on document as well.
"use strict";
(() => {
  const root = document.documentElement;
  const orders = { lang: ["en", "zh"], theme: ["auto", "light", "dark"], motion: ["full", "reduced", "none"] };

  const read = (what) => {
    try {
      return localStorage.getItem("grouplab." + what);
    } catch {
      return null; // storage is switched off: the choice lasts as long as the page
    }
  };
  const keep = (what, value, usual) => {
    try {
      if (value === usual) localStorage.removeItem("grouplab." + what);
      else localStorage.setItem("grouplab." + what, value);
    } catch {
      // as above
    }
  };

  const usual = {
    lang: (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en",
    theme: "auto",
    motion: matchMedia("(prefers-reduced-motion: reduce)").matches ? "reduced" : "full",
  };
  const asked = new URLSearchParams(location.search);
  const now = {};
  for (const what of Object.keys(orders)) {
    now[what] = [asked.get(what), read(what), usual[what]].find((v) => orders[what].includes(v));
  }

  // Pictures of the gallery are drawn where the page is written, in the language of its address. Elsewhere the address
  // need not say what is chosen here.
  const gallery = root.dataset.page === "gallery";
  const address = () => {
    const to = new URL(location.href);
    if (gallery) {
      to.searchParams.set("lang", now.lang);
      location.replace(to);
    } else if (to.searchParams.has("lang")) {
      to.searchParams.delete("lang");
      history.replaceState(history.state, "", to);
    }
  };
  if (gallery && root.lang !== now.lang && !asked.has("lang")) address();

  const show = (what) => {
    if (what === "lang") {
      root.lang = now.lang;
      const title = root.getAttribute("data-title-" + now.lang);
      if (title) document.title = title;
    } else {
      root.setAttribute("data-" + what, now[what]);
    }
  };
  Object.keys(orders).forEach(show);

  addEventListener("DOMContentLoaded", () => {
    show("lang");
    document.addEventListener(
      "click",
      (e) => {
        const button = e.target.closest("[data-do]");
        const what = button && button.dataset.do;
        if (what === "help") {
          const keys = document.getElementById("keys");
          if (keys && !keys.open) keys.showModal();
          return;
        }
        if (!orders[what]) return;
        const order = orders[what];
        now[what] = order[(order.indexOf(now[what]) + 1) % order.length];
        keep(what, now[what], usual[what]);
        show(what);
        if (what === "lang") address();
        document.dispatchEvent(new CustomEvent("grouplab:chosen", { detail: what }));
      },
      true,
    );
  });
})();
