import { ApiError } from "@shoal/client";
import { examineHost } from "@shoal/placement";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";

const { chromium: installed } = await examineHost();
const codeOf = (error: unknown): string => (ApiError.isInstance(error) ? error.code : String(error));
const outcomeOf = (call: Promise<unknown>): Promise<string> => call.then(() => "done", codeOf);

describe.skipIf(installed === undefined)("programs during a handoff", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serveSite();
  });
  afterAll(() => site.close());
  const test = useService(() => ["--allow-private-hosts", "127.0.0.1"]);
  const session = useSession(test, { viewport: { width: 800, height: 600 } });
  afterEach(async () => {
    await test.shoal.browsers.handoff.cancel(session.id);
  });
  const request = (on_automation: "refuse" | "wait") =>
    test.shoal.browsers.handoff.request(session.id, { message: "Look", on_automation });

  it("cannot change what the person sees, but names and labels", async () => {
    const { browsers } = test.shoal;
    const { id } = session;
    await request("refuse");
    for (const change of [
      { viewport: { width: 1024, height: 768 } },
      { proxy_id: "" },
      { network: { deny: ["example.com"] } },
      { chrome_policy: {} },
      { profile: { name: "other" } },
    ])
      expect([Object.keys(change)[0], await outcomeOf(browsers.update(id, change))]).toEqual([
        Object.keys(change)[0],
        "handoff_active",
      ]);
    expect((await browsers.update(id, { tags: { step: "person" } })).viewport).toMatchObject({ width: 800 });
    await browsers.handoff.release(id);

    await request("wait");
    let isChanged = false;
    const changed = browsers
      .update(id, { viewport: { width: 1024, height: 768 }, name: "later" })
      .then(() => (isChanged = true));
    expect(await outcomeOf(browsers.update(id, { tags: { step: "waits" } }))).toBe("done");
    expect(isChanged).toBe(false);
    await browsers.handoff.release(id);
    await changed;
    expect(await browsers.get(id)).toMatchObject({ name: "later", tags: { step: "waits" }, viewport: { width: 1024 } });
  });

  it("cannot type into an open terminal, whose output continues", async () => {
    const { browsers } = test.shoal;
    const { id } = session;
    const { process_id } = await browsers.process.spawn(id, {
      command: "sh",
      args: ["-c", "(while :; do echo tick; sleep 0.1; done) & cat"],
      allocate_tty: true,
    });
    const { cdp_ws_url } = await browsers.get(id);
    const terminal = new WebSocket(cdp_ws_url.replace("/cdp?", `/process/${process_id}/attach?`));
    let shown = "";
    terminal.on("message", (data: Buffer, isBinary) => {
      if (isBinary) shown += data.toString();
    });
    const closed = new Promise<string>((resolve) =>
      terminal.once("close", (code: number, reason: Buffer) => {
        resolve(`${String(code)} ${reason.toString()}`);
      }),
    );
    const ticks = () => shown.split("tick").length;
    const moreTicks = async () => {
      const before = ticks();
      await expect.poll(ticks).toBeGreaterThan(before + 3);
    };
    await expect.poll(ticks).toBeGreaterThan(1);
    terminal.send(Buffer.from("before\n"));
    await expect.poll(() => shown).toContain("before");

    await request("wait");
    terminal.send(Buffer.from("typed\n"));
    await moreTicks();
    expect(shown).not.toContain("typed");
    await browsers.handoff.release(id);
    await expect.poll(() => shown).toContain("typed");

    await request("refuse");
    await moreTicks();
    terminal.send(Buffer.from("refused\n"));
    expect(await closed).toMatch(/^1008 handoff_active: /);
    expect((await browsers.process.status(id, process_id)).state).toBe("running");
    await browsers.handoff.release(id);
    await browsers.process.kill(id, process_id, { signal: "KILL" });
    expect(shown).not.toContain("refused");
  });

  it("let requests continue unchanged that a client of WebDriver BiDi intercepted", async () => {
    const { browsers } = test.shoal;
    const { id } = session;
    const bidi = new WebSocket((await browsers.get(id)).webdriver_ws_url);
    const messages: { id?: number; type: string; method?: string; params?: { request?: { request: string } } }[] = [];
    bidi.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString()) as (typeof messages)[number]));
    await new Promise((resolve) => bidi.once("open", resolve));
    let sent = 0;
    const ask = async (method: string, params: object) => {
      const number = ++sent;
      bidi.send(JSON.stringify({ id: number, method, params }));
      await expect.poll(() => messages.some((message) => message.id === number)).toBe(true);
      return messages.find((message) => message.id === number);
    };
    const intercepted = async (count: number): Promise<string> => {
      const found = () => messages.filter(({ method }) => method === "network.beforeRequestSent");
      await expect.poll(() => found().length).toBeGreaterThanOrEqual(count);
      return found()[count - 1]?.params?.request?.request ?? "";
    };
    await browsers.playwright.execute(id, { code: `await page.goto(${JSON.stringify(`${site.url}start`)})` });
    await ask("session.new", { capabilities: {} });
    await ask("session.subscribe", { events: ["network.beforeRequestSent"] });
    const [protocol, port] = ["http", new URL(site.url).port];
    await ask("network.addIntercept", {
      phases: ["beforeRequestSent"],
      urlPatterns: [{ type: "pattern", protocol, hostname: "127.0.0.1", port }],
    });
    // The page asks three times, each after the answer before.
    const code = `await page.evaluate(() => { void (async () => {
      const answers = [];
      for (const name of ["one", "two", "three"])
        answers.push(await fetch("/" + name).then((response) => response.text().then((text) => text.includes("/" + name)), () => "failed"));
      document.title = answers.join();
    })(); })`;
    await browsers.playwright.execute(id, { code });
    const first = await intercepted(1);
    await request("refuse");
    expect(await ask("network.failRequest", { request: first })).toMatchObject({ type: "success" });
    const second = await intercepted(2);
    const answer = { statusCode: 200, body: { type: "string", value: "forged" } };
    expect(await ask("network.provideResponse", { request: second, ...answer })).toMatchObject({ type: "success" });
    const third = await intercepted(3);
    const elsewhere = { url: `${site.url}elsewhere` };
    expect(await ask("network.continueRequest", { request: third, ...elsewhere })).toMatchObject({ type: "success" });
    await expect.poll(async () => (await browsers.read(id)).title).toBe("true,true,true");
    bidi.close();
  });
});
