import { eventuallyPasses } from "@shoal/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance } from "../../testing/run-instance.ts";

const hourMs = 3_600_000;
const offsetMs = -400 * 24 * hourMs;

interface Reading {
  /** Each in milliseconds since 1970. */
  readonly times: Readonly<Record<string, number>>;
  readonly text: string;
  readonly random: number;
  readonly key: string;
  readonly looksReal: boolean;
}

/** First statement of every document and worker. */
const read = `JSON.stringify({
  times: {
    now: Date.now(),
    made: +new Date(),
    sub: +new (class extends Date {})(),
    called: Date.parse(Date()),
    zone: new Date(new Date(2024, 0, 2).getTime() - new Date(2024, 0, 1).getTime() + Date.now() - 86400000).getTime(),
    ...(globalThis.Temporal && { instant: Temporal.Now.instant().epochMilliseconds, zoned: Temporal.Now.zonedDateTimeISO().epochMilliseconds }),
    file: new File([], "name").lastModified,
    origin: performance.timeOrigin,
    shown: performance.toJSON().timeOrigin,
    ...(performance.timing && { timing: performance.timing.fetchStart || performance.timing.navigationStart }),
  },
  text: new Intl.DateTimeFormat("en-CA").format() + " " + new Intl.DateTimeFormat("en-CA").formatToParts().map(({ value }) => value).join(""),
  random: Math.random(),
  key: crypto.randomUUID(),
  looksReal: new Date() instanceof Date && new Date(0).constructor === Date && Date.length === 7 && String(Date).includes("native code") && performance.now() < ${String(hourMs)},
})`;

interface Stored {
  readonly result: { readonly cookies: readonly { readonly name: string; readonly expires: number }[] };
}

/** The page's last statement. */
const setCookies = `(async () => {
  const end = Date.now() + ${String(hourMs)};
  const ends = (ms) => "=1; Path=/; Expires=" + new Date(ms).toUTCString();
  document.cookie = "utc" + ends(end);
  document.cookie = "bare" + ends(end).replace(" GMT", "");
  document.cookie = "session=1; expires=0";
  document.cookie = "far=1; expires=Fri, 31 Dec 9999 23:59:59 GMT";
  document.cookie = "ended" + ends(end);
  document.cookie = "ended" + ends(end - ${String(2 * hourMs)});
  await cookieStore.set({ name: "stored", value: "1", expires: new Date(end) });
  await fetch("/report?from=cookies", { method: "POST", body: JSON.stringify(document.cookie.split("; ").sort().join()) });
})();`;

describeChromium("time and random numbers of pages", (chromium) => {
  const reports = new Map<string, Reading>();
  let cookies: unknown;
  let site: Server;
  let port: string;
  const report = (from: string): string => `fetch("/report?from=${from}", { method: "POST", body: ${read} });`;
  beforeAll(async () => {
    site = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
      if (pathname === "/report") {
        let body = "";
        request.on("data", (chunk: Buffer) => (body += chunk.toString()));
        request.on("end", () => {
          const from = searchParams.get("from") ?? "";
          if (from === "cookies") cookies = JSON.parse(body);
          else reports.set(from, JSON.parse(body) as Reading);
          response.end();
        });
        return;
      }
      const name = pathname.slice(1).replace(".js", "");
      if (pathname.endsWith(".js")) {
        response.setHeader("content-type", "text/javascript").end(report(name));
        return;
      }
      const frames = `<iframe src="http://localhost:${port}/frame"></iframe><iframe src="about:blank" id="blank"></iframe>`;
      const more = `
        const blank = document.getElementById("blank").contentWindow;
        fetch("/report?from=blank", { method: "POST", body: blank.eval(${JSON.stringify(read)}) });
        new Worker("/worker.js"); new SharedWorker("/shared.js"); navigator.serviceWorker.register("/service.js?" + crypto.randomUUID());
        document.querySelector("iframe").onload = () => window.open("/popup");
        ${setCookies}`;
      response.setHeader("content-type", "text/html");
      response.end(
        `<title>${name}</title>${name === "main" ? frames : ""}<script>${report(name)} ${name === "main" ? more : ""}</script>`,
      );
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    port = String((site.address() as AddressInfo).port);
  });
  afterAll(() => {
    site.closeAllConnections();
    site.close();
  });

  const places = ["blank", "frame", "main", "popup", "service", "shared", "worker"];

  it("start at another time and from a seed in every document and worker, also after a restart", async () => {
    await using instance = await runInstance({ chromium });
    const launch = { clock_offset_ms: offsetMs, random_seed: 7 };
    expect(await instance.assign({ launch })).toBe(200);
    let first: number | undefined;
    for (const turn of [1, 2]) {
      reports.clear();
      cookies = undefined;
      const client = cdpClient(await instance.connect());
      const before = Date.now();
      await client.send("Target.createTarget", { url: `http://127.0.0.1:${port}/main` });
      await eventuallyPasses(() => {
        expect([...reports.keys()].sort()).toEqual(places);
        expect(cookies).toBe("bare=1,far=1,session=1,stored=1,utc=1");
      });
      const after = Date.now();
      const stored = (await client.send("Storage.getCookies")) as unknown as Stored;
      const { cookies: kept } = stored.result;
      for (const { expires, name } of kept.filter((each) => each.name !== "far" && each.name !== "session")) {
        expect(expires * 1000, name).toBeGreaterThanOrEqual(before + hourMs - 1000);
        expect(expires * 1000, name).toBeLessThanOrEqual(after + hourMs);
      }
      expect(kept.find(({ name }) => name === "far")?.expires).toBeGreaterThan(after / 1000 + 24 * 3600);
      first ??= reports.get("main")?.random;
      expect(new Set([...reports.values()].map(({ key }) => key)).size).toBe(places.length);
      const days = [before, after].map((ms) => new Intl.DateTimeFormat("en-CA").format(ms + offsetMs));
      for (const [place, { looksReal, random, text, times }] of reports) {
        const where = `${place} in turn ${String(turn)}`;
        for (const [name, ms] of Object.entries(times)) {
          expect(ms, `${name} of ${where}`).toBeGreaterThan(before + offsetMs - hourMs);
          expect(ms, `${name} of ${where}`).toBeLessThan(after + offsetMs + hourMs);
        }
        expect(times.now, where).toBeGreaterThanOrEqual(before + offsetMs);
        expect(times.now, where).toBeLessThanOrEqual(after + offsetMs);
        expect(
          days.map((day) => `${day} ${day}`),
          where,
        ).toContain(text);
        expect({ where, random, looksReal }).toEqual({ where, random: first, looksReal: true });
      }
      if (turn === 2) continue;
      void client.send("Browser.crash");
      await client.closed;
    }
  });
});
