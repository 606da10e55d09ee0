import { expect, it } from "vitest";
import { ActLog } from "./act-log.ts";

it("keeps the latest 500 actions, and counts the others", async () => {
  const log = new ActLog();
  for (let count = 0; count < 503; count++)
    await log.begin({ type: "reload", timeout_ms: 1000 }).done({
      ...{ tab: "t1", url: `https://shop.example/${String(count)}`, title: "", navigated: true, settled: true },
      ...{ new_tabs: [], downloads: [], failed_requests: [] },
    });
  const { acts, forgotten } = log.read();
  expect([acts.length, acts[0]?.page_url, forgotten]).toEqual([500, "https://shop.example/3", 3]);
});
