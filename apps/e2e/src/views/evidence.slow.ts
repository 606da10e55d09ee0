import { type CreateBrowser, Shoal, type TelemetryEnvelope } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { usePerson, violationsOf } from "../console/open-console.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

let site: Site;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    if (request.url === "/report.csv")
      response
        .writeHead(200, { "content-disposition": "attachment; filename=report.csv", "content-type": "text/csv" })
        .end("a,b\n");
    else if (request.url === "/old") response.writeHead(302, { location: "/new", "x-hop": "first" }).end();
    else if (request.url === "/new")
      response.writeHead(200, { "content-type": "application/json", "x-hop": "second" }).end('{"answer":42}');
    else
      response.writeHead(200, { "content-type": "text/html" }).end(
        `<title>orders</title><h1 style="font-size:90px">Orders</h1><a id=report href="/report.csv">report</a>
        <script>console.log("hello"); fetch("/old", { headers: { authorization: "Bearer abcdefghijkl" } });
        fetch("/new", { method: "POST", body: "typed text" })</script>`,
      );
  });
});
afterAll(() => site.close());

async function eventsOf(shoal: Shoal, id: string): Promise<TelemetryEnvelope["event"][]> {
  const events: TelemetryEnvelope["event"][] = [];
  for await (const { event } of await shoal.browsers.telemetry.events(id, { since: "1h", limit: 100 }))
    events.push(event);
  return events;
}

describe("evidence of a session without telemetry settings", () => {
  const test = useService(() => [
    ...["--allow-private-hosts", site.host, "--placement", "process"],
    ...["--default-telemetry", "console,network,page", "--download-retention-hours", "24"],
  ]);

  const person = usePerson(test);

  async function visit(body: CreateBrowser = {}, shoal = test.shoal) {
    const browser = await shoal.browsers.create({ timeout_seconds: 300, ...body });
    const id = browser.session_id;
    await shoal.browsers.playwright.execute(id, {
      code: `await page.goto("${site.url}"); await page.waitForLoadState("networkidle");
        const [download] = await Promise.all([page.waitForEvent("download"), page.click("#report")]);
        await download.path();`,
    });
    return { browser, id };
  }

  it("has its console, requests without bodies, downloads, and a picture of the page", async () => {
    const { shoal } = test;
    const { browser, id } = await visit();
    expect(browser.telemetry?.browser).toMatchObject({
      console: { enabled: true },
      network: { enabled: true, bodies: false },
      page: { enabled: true },
      interaction: { enabled: false },
      screenshot: { enabled: false },
    });
    expect(await codeOf(shoal.browsers.telemetry.lastPicture(id))).toBe("404 not_found");
    await eventually("the download is complete", async () =>
      (await shoal.browsers.downloads.list(id)).items.some(({ finished_at }) => finished_at !== null),
    );
    await shoal.browsers.delete(id);
    const { contentType, stream } = await shoal.browsers.telemetry.lastPicture(id);
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());

    const events = await eventsOf(shoal, id);
    const dataOf = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
    expect(dataOf("console_log")).toContainEqual(expect.objectContaining({ text: "hello" }));
    expect(dataOf("download_finished")).toContainEqual(expect.objectContaining({ file_name: "report.csv" }));
    expect(dataOf("network_response")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          status: 302,
          is_redirect: true,
          headers: expect.objectContaining({ "x-hop": "first" }) as unknown,
        }),
        expect.objectContaining({
          status: 200,
          headers: expect.objectContaining({ "x-hop": "second" }) as unknown,
        }),
      ]),
    );
    const written = JSON.stringify(events);
    for (const hidden of ["answer", "typed text", "abcdefghijkl", "jpeg"]) expect(written).not.toContain(hidden);

    const [picture] = dataOf("page_picture");
    expect(picture).toMatchObject({ url: site.url, title: "orders" });
    expect(contentType).toBe("image/jpeg");
    expect([...bytes.slice(0, 3)]).toEqual([0xff, 0xd8, 0xff]);
    expect(picture).toMatchObject({ size_bytes: bytes.length });

    const ended = await shoal.browsers.get(id, { include_deleted: true });
    expect(ended.telemetry).toEqual(browser.telemetry);
    expect(ended.lifecycle).not.toHaveProperty("captured");
    const [kept] = (await shoal.browsers.downloads.list(id)).items;
    expect(kept).toMatchObject({ name: "report.csv" });
  });

  it("is what the project, the pool or the session says instead", async () => {
    const { shoal } = test;
    const off = await shoal.browsers.create({ telemetry: { enabled: false } });
    expect(off.telemetry).toBeUndefined();
    const some = await shoal.browsers.create({ telemetry: { browser: { console: { enabled: false } } } });
    expect(some.telemetry?.browser).toMatchObject({ console: { enabled: false }, network: { enabled: true } });
    const hidden = await shoal.browsers.create({ stealth: true });
    expect(hidden.telemetry?.browser).toMatchObject({ console: { enabled: false }, network: { enabled: true } });
    for (const { session_id } of [off, some, hidden]) await shoal.browsers.delete(session_id);

    const [project] = (await shoal.projects.list()).items;
    const id = project?.id ?? "";
    expect(project?.service_defaults).toEqual({
      default_telemetry: ["console", "network", "page"],
      default_recording: false,
    });
    await shoal.projects.update(id, { default_telemetry: ["off"] });
    const quiet = await shoal.browsers.create();
    expect(quiet.telemetry).toBeUndefined();
    const named = await shoal.browsers.create({ telemetry: { browser: { network: {} } } });
    expect(named.telemetry?.browser).toMatchObject({ network: { enabled: true }, page: { enabled: false } });
    expect(named.telemetry?.browser?.network).not.toHaveProperty("bodies");
    for (const { session_id } of [quiet, named]) await shoal.browsers.delete(session_id);

    await shoal.projects.update(id, { default_telemetry: ["page"] });
    for (const [telemetry, captured] of [
      [undefined, true],
      [{ enabled: false }, false],
    ] as const) {
      const pool = await shoal.browserPools.create({ size: 1, ...(telemetry && { telemetry }) });
      const leased = await shoal.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
      expect(leased?.telemetry?.browser?.page?.enabled ?? false).toBe(captured);
      await shoal.browserPools.delete(pool.id, { force: true });
    }
    const again = await shoal.projects.update(id, { default_telemetry: null });
    expect(again.default_telemetry).toBeUndefined();
  });

  it("is on the pages of an ended session in the console", async () => {
    const { id } = await visit();
    await test.shoal.browsers.delete(id);
    const { page, problems } = await person.openSignedIn(`sessions/${id}`);
    const picture = page.getByRole("img", { name: "The page when the session ended" });
    const widthOfPicture = () =>
      picture.evaluate(async (image) => {
        await (image as HTMLImageElement).decode();
        return (image as HTMLImageElement).naturalWidth;
      });
    await expect.poll(widthOfPicture).toBeGreaterThan(500);
    for (const [tab, shown] of [
      ["Console", "hello"],
      ["Network", "/new"],
      ["Files", "report.csv"],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByText(shown).first().waitFor();
    }
    // Its address was revoked when the tab was left.
    await page.getByRole("tab", { name: "Live view" }).click();
    await expect.poll(widthOfPicture).toBeGreaterThan(500);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Evidence" }).click();
    const archive = await downloading;
    expect(archive.suggestedFilename()).toBe(`${id}-evidence.zip`);
    expect(await archive.failure()).toBeNull();
    await expect.poll(() => violationsOf(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it("is a recording from the start, where the project says so", async () => {
    const { shoal } = test;
    const { id: projectId } = await shoal.projects.create({ name: "filmed", default_recording: true });
    const { apiKey, baseUrl } = test.service;
    const filmed = new Shoal({ apiKey, baseUrl, project: projectId });
    const { session_id: id } = await filmed.browsers.create({ start_url: site.url });
    await eventually("the recording runs", async () =>
      (await filmed.browsers.replays.list(id)).some(({ started_at }) => started_at != null),
    );
    // In a new part after a change of the size.
    await filmed.browsers.update(id, { viewport: { width: 800, height: 600, force: true } });
    const [first, second] = await filmed.browsers.replays.list(id);
    expect([first?.by_default, second?.by_default]).toEqual([true, true]);
    const { replay_id: own } = await filmed.browsers.replays.start(id);
    const refused = await refusalOf(filmed.browsers.replays.stop(id, second?.replay_id ?? ""));
    expect([refused.status, refused.message]).toEqual([409, expect.stringContaining("default_recording")]);
    await filmed.browsers.replays.stop(id, own);
    const states = async () =>
      (await filmed.browsers.replays.list(id)).map(({ finished_at }) => (finished_at == null ? "runs" : "ended"));
    await expect.poll(states).toEqual(["ended", "runs", "ended"]);
    await filmed.browsers.delete(id);
    await eventually("the recording is complete", async () => (await states())[1] === "ended");
  });

  it("is a recording of the session that says so, and of its forks and snapshots", async () => {
    const { shoal } = test;
    const { id: projectId } = await shoal.projects.create({ name: "films", default_recording: true });
    const { apiKey, baseUrl } = test.service;
    const { browserPools, browsers } = new Shoal({ apiKey, baseUrl, project: projectId });
    const without = await browsers.create({ recording: { video: false }, timeout_seconds: 300 });
    expect(without.recording).toEqual({ video: false });
    const [fork] = (await browsers.fork(without.session_id, {})).browsers;
    const { id: snapshot } = await browsers.snapshot(without.session_id, {});
    const started = await browsers.create({ snapshot: { id: snapshot } });
    const pool = await browserPools.create({ size: 1, recording: { video: false } });
    expect(pool.browser_pool_config.recording).toEqual({ video: false });
    const leased = await browserPools.acquire(pool.id, { acquire_timeout_seconds: 300 });
    const unrecorded = [without, fork, started, leased].map((browser) => browser?.session_id ?? "");
    const again = await browserPools.update(pool.id, { recording: {} });
    expect(again.browser_pool_config).not.toHaveProperty("recording");

    await shoal.projects.update(projectId, { default_recording: false });
    const asked = await browsers.create({ recording: { video: true }, timeout_seconds: 300 });
    const [replay] = await browsers.replays.list(asked.session_id);
    expect(replay).toMatchObject({ finished_at: null });
    expect(replay).not.toHaveProperty("by_default");
    const [recorded] = (await browsers.fork(asked.session_id, {})).browsers;
    await eventually(
      "the fork is recorded",
      async () => (await browsers.replays.list(recorded?.session_id ?? "")).length === 1,
    );
    await browsers.replays.stop(asked.session_id, replay?.replay_id ?? "");
    for (const id of unrecorded) expect([id, await browsers.replays.list(id)]).toEqual([id, []]);
    for (const id of [...unrecorded, asked.session_id, recorded?.session_id ?? ""]) await browsers.delete(id);
    await browserPools.delete(pool.id, { force: true });
  });
});
