// Pages work without this. With it, live sections are fetched again, and what deletes asks first.
"use strict";
(() => {
  const status = document.getElementById("live");
  const every = Number(document.body.dataset.refresh) || 0;
  const live = () => document.querySelectorAll("[data-live]");
  // The daemon, and the state it is in.
  const who = (page) => page.querySelector(".who");
  let paused = false;
  let timer = 0;
  let failures = 0;

  // What somebody types into, has selected or has opened is left alone.
  const isInUse = (section) => {
    const selection = document.getSelection();
    return (section.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) ||
      (selection && !selection.isCollapsed && section.contains(selection.anchorNode));
  };

  const focusPath = (section) => {
    const active = document.activeElement;
    if (!section.contains(active)) return -1;
    return [...section.querySelectorAll("a, button, [tabindex]")].indexOf(active);
  };

  const replace = (section, fresh) => {
    if (!fresh || section.innerHTML === fresh.innerHTML || isInUse(section)) return;
    const focused = focusPath(section);
    const scrolled = [...section.querySelectorAll(".scroll, pre")].map((box) => [box.scrollLeft, box.scrollTop]);
    section.innerHTML = fresh.innerHTML;
    section.querySelectorAll(".scroll, pre").forEach((box, at) => {
      if (scrolled[at]) [box.scrollLeft, box.scrollTop] = scrolled[at];
    });
    if (focused >= 0) section.querySelectorAll("a, button, [tabindex]")[focused]?.focus({ preventScroll: true });
  };

  // A NameNode that has loaded answers with other pages, at the same addresses.
  const shape = (page) => [page.title, ...[...page.querySelectorAll("main section")].map((section) => section.id)].join();

  const refresh = async () => {
    clearTimeout(timer);
    if (!paused && !document.hidden) {
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
        if (!answer.ok) throw new Error(`status ${answer.status}`);
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (shape(page) !== shape(document) && ![...live()].some(isInUse)) return location.reload();
        live().forEach((section) => replace(section, page.getElementById(section.id)));
        replace(who(document), who(page));
        if (failures > 0) say("Live");
        failures = 0;
      } catch {
        failures += 1;
        say("No answer; trying again");
      }
      document.body.dataset.refreshed = String(Number(document.body.dataset.refreshed || 0) + 1);
    }
    timer = setTimeout(refresh, every * Math.min(2 ** failures, 8));
  };

  const words = document.createElement("span");
  const say = (text) => { if (words.textContent !== text) words.textContent = text; };

  if (every > 0 && live().length > 0 && status) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Pause";
    button.addEventListener("click", () => {
      paused = !paused;
      button.textContent = paused ? "Resume" : "Pause";
      say(paused ? "Paused" : "Live");
      if (!paused) refresh();
    });
    say("Live");
    status.append(words, button);
    timer = setTimeout(refresh, every);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  }

  // Apache's browser has the path behind the number sign, which no server sees.
  if (location.pathname === "/explorer.html" && location.hash.startsWith("#/")) {
    location.replace(`/explorer?path=${encodeURIComponent(decodeURI(location.hash.slice(1)))}`);
  }

  document.addEventListener("submit", (event) => {
    const question = event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });
})();
