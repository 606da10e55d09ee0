import type { Polish } from "../polish.ts";

const running = { field: "status", until: ["deleted"] } as const;

/** Browser sessions. */
export const browserPolish: Readonly<Record<string, Polish>> = {
  "browsers.create": {
    first: ["session_id", "name"],
    next: [
      "",
      "Drive it with Playwright, chromium.connectOverCDP(cdp_ws_url), or Puppeteer, puppeteer.connect({ browserWSEndpoint: cdp_ws_url }).",
      "It ends after {timeout_seconds} s in which nobody uses it, or with: shoal browsers delete {name|session_id}",
    ],
    flags: { tags: "--tag", timeout_seconds: "-t, --timeout-seconds", headless: "-H, --headless", stealth: "-s, --stealth" },
    examples: [
      "shoal browsers create --name research --timeout-seconds 600",
      "shoal browsers create --tag team=search --viewport 1280x800 --query cdp_ws_url",
    ],
  },
  "browsers.list": {
    flags: { tags: "--tag", query: "--search" },
    columns: [
      ["ID", "session_id"],
      ["NAME", "name"],
      ["CREATED", "created_at"],
      ["EXPIRES", "expires_at"],
      ["ENDED", "ended_reason"],
    ],
    empty: "No browsers. Start one: shoal browsers create",
    watch: { field: "status", until: [] },
    examples: [
      "shoal browsers list",
      "shoal browsers list --status all --tag team=search",
      "shoal browsers list --query '[].session_id' -o jsonl",
      "shoal browsers list --watch",
    ],
  },
  "browsers.get": {
    first: ["session_id", "name"],
    watch: running,
    examples: ["shoal browsers get research", "shoal browsers get research --query cdp_ws_url", "shoal browsers get research --watch"],
  },
  "browsers.extend": {
    first: ["session_id", "ends_at", "expires_at"],
    examples: ["shoal browsers extend research", "shoal browsers extend research --max-duration-seconds 3600"],
  },
  "browsers.update": {
    first: ["session_id", "name"],
    flags: { tags: "--tag" },
    examples: ["shoal browsers update research --name archive", "shoal browsers update research --tag team=search --tag stage=2"],
  },
  // Asks nothing, as the reference's does not: sessions are made to be ended, scripts end many, and what a profile keeps is saved first.
  "browsers.delete": {
    many: true,
    done: "Ended browser {0}.",
    examples: ["shoal browsers delete research", "shoal browsers delete research archive"],
  },
};
