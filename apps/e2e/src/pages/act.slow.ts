import { type ActOnPage, ApiError } from "@shoal/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { usePage } from "../testing/page.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

const shop = `<!doctype html><title>Shop</title><input aria-label=Search><button id=late disabled>Order</button><p id=out></p>
  <script>late.onclick = () => { out.textContent += "ordered "; };</script>`;

describe("acting on a page through the service", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serveSite((_request, response) => {
      response.setHeader("content-type", "text/html").end(shop);
    });
  });
  afterAll(async () => {
    await site.close();
  });
  const test = useService(() => ["--allow-private-hosts", "127.0.0.1"]);
  const session = useSession(test);
  let page: Page;
  usePage(test, session, (found) => {
    page = found;
  });

  async function send(
    body: ActOnPage,
    options: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const answer = await fetch(`${test.service.baseUrl}/browsers/${session.id}/act`, {
      ...options,
      method: "POST",
      headers: {
        ...options.headers,
        authorization: `Bearer ${test.service.apiKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    return answer.json();
  }

  it("works next to a Playwright client", async () => {
    const { browsers } = test.shoal;
    const opened = await browsers.act(session.id, { type: "navigate", url: site.url });
    expect(opened).toMatchObject({ title: "Shop", status: 200, navigated: true, settled: true });
    const filled = await browsers.act(session.id, { type: "fill", selector: "input", text: "herring", observe: {} });
    expect(filled.element).toMatchObject({ role: "textbox", name: "Search", value: "herring" });
    expect(filled.observation).toMatchObject({ tab: opened.tab, title: "Shop" });
    expect(await page.inputValue("input")).toBe("herring");
  });

  it("stops when the caller leaves before the element is ready", async () => {
    const { browsers } = test.shoal;
    await browsers.act(session.id, { type: "navigate", url: site.url });
    const leaving = new AbortController();
    // Without an Idempotency-Key: with one, the caller may repeat the request for some seconds.
    const left = send({ type: "click", selector: "#late" }, { signal: leaving.signal });
    left.catch(() => undefined);
    await page.evaluate("document.title");
    leaving.abort();
    await expect(left).rejects.toThrow();
    // Takes its turn after the other action has stopped.
    await browsers.act(session.id, { type: "hover", selector: "input" });
    await page.evaluate("late.disabled = false");
    await browsers.act(session.id, { type: "hover", selector: "#late" });
    expect(await page.textContent("#out")).toBe("");
  });

  it("acts once for a repeated Idempotency-Key", async () => {
    await test.shoal.browsers.act(session.id, { type: "navigate", url: site.url });
    await page.evaluate("late.disabled = false");
    const click = () => send({ type: "click", selector: "#late" }, { headers: { "idempotency-key": "order-1" } });
    expect(await click()).toEqual(await click());
    expect(await page.textContent("#out")).toBe("ordered ");
  });

  it("names the field, the obstacle and the next step of an impossible action", async () => {
    const { browsers } = test.shoal;
    await browsers.act(session.id, { type: "navigate", url: site.url });
    const refused = browsers.act(session.id, { type: "click", selector: "#late", timeout_ms: 200 });
    await expect(refused).rejects.toSatisfy(
      (error) =>
        ApiError.isInstance(error) &&
        error.status === 409 &&
        error.code === "not_actionable" &&
        error.message.includes('(button "Order") is disabled'),
    );
    await expect(browsers.act(session.id, { type: "select", selector: "#late" })).rejects.toThrow("body.values");
  });
});
