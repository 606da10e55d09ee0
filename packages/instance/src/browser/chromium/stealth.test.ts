import { eventually, eventuallyPasses } from "@shoal/testkit";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance } from "../../testing/run-instance.ts";

const full = findChromium("chrome");
const shell = findChromium("headless_shell");
const isMissing = full === undefined;
const reason = isMissing ? " (skipped, needs a full Chromium)" : "";

const signs = `(async () => {
  const canvas = document.createElement("canvas").getContext("webgl");
  return {
    webdriver: navigator.webdriver,
    headless: /headless/i.test(navigator.userAgent + JSON.stringify(await navigator.userAgentData.getHighEntropyValues(["fullVersionList"]))),
    fullVersions: (await navigator.userAgentData.getHighEntropyValues(["fullVersionList", "architecture"])).fullVersionList.length,
    architecture: (await navigator.userAgentData.getHighEntropyValues(["architecture"])).architecture !== "",
    agentMatchesHints: navigator.userAgent.includes("Chrome/" + navigator.userAgentData.brands.find(({ brand }) => brand === "Chromium").version + ".0.0.0 "),
    languages: navigator.languages.join(),
    notifications: Notification.permission + " " + (await navigator.permissions.query({ name: "notifications" })).state,
    plugins: navigator.plugins.length, pdf: navigator.pdfViewerEnabled, chrome: typeof chrome,
    mouse: matchMedia("(hover: hover)").matches && matchMedia("(pointer: fine)").matches,
    webgl: canvas !== null,
    windowFits: outerWidth >= innerWidth && outerHeight > innerHeight && screen.width >= outerWidth && screen.height >= outerHeight,
  };
})()`;
const aPersons = {
  webdriver: false,
  headless: false,
  fullVersions: 2,
  architecture: true,
  agentMatchesHints: true,
  languages: "en-US,en",
  notifications: "default prompt",
  plugins: 5,
  pdf: true,
  chrome: "object",
  mouse: true,
  webgl: true,
  windowFits: true,
};

let site: Server;
let base: string;
const requests = new Map<string, IncomingHttpHeaders>();
const agents: Record<string, string> = {};
beforeAll(async () => {
  site = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
    requests.set(pathname, request.headers);
    const from = searchParams.get("from");
    if (from !== null) agents[from] = searchParams.get("agent") ?? "";
    response.setHeader("accept-ch", "sec-ch-ua-full-version-list");
    if (pathname.endsWith(".js")) {
      response.setHeader("content-type", "text/javascript");
      response.end(`fetch("/report?from=${pathname.slice(1, -3)}&agent=" + encodeURIComponent(navigator.userAgent));`);
      return;
    }
    response.setHeader("content-type", "text/html");
    const port = String((site.address() as AddressInfo).port);
    response.end(
      pathname === "/main"
        ? `<title>Shoal</title><iframe src="http://localhost:${port}/frame"></iframe><script>new Worker("/worker.js"); new SharedWorker("/shared.js"); navigator.serviceWorker.register("/service.js")</script>`
        : "<title>else</title>",
    );
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

describe.skipIf(isMissing && process.env.SHOAL_REQUIRE_ALL !== "1")(`stealth${reason}`, () => {
  it("shows pages, frames and workers the values of a person's browser, from the first request on", async () => {
    const inner = process.getuid?.() !== 0;
    const chromium =
      shell === undefined
        ? ({ kind: "chrome", executable: full ?? "missing" } as const)
        : ({
            kind: "headless_shell",
            executable: shell,
            full: { executable: full ?? "missing", inner_sandbox: inner },
          } as const);
    await using instance = await runInstance({ chromium });
    expect(
      await instance.assign({
        viewport: { width: 1200, height: 700 },
        launch: { stealth: true },
        start_url: `${base}/main`,
      }),
    ).toBe(200);
    const client = cdpClient(await instance.connect());
    const evaluate = async (path: string, expression: string) => {
      const { result } = (await client.send("Target.getTargets")) as {
        result: { targetInfos: { type: string; url: string; targetId: string }[] };
      };
      const target = result.targetInfos.find(({ url }) => url.endsWith(path));
      const attached = (await client.send("Target.attachToTarget", { targetId: target?.targetId, flatten: true })) as {
        result?: { sessionId: string };
      };
      const answer = (await client.send(
        "Runtime.evaluate",
        { expression, awaitPromise: true, returnByValue: true, userGesture: true },
        attached.result?.sessionId,
      )) as { result?: { result: { value: unknown } } };
      return answer.result?.result.value;
    };
    await eventuallyPasses(() => {
      expect(Object.keys(agents).sort()).toEqual(["service", "shared", "worker"]);
    });
    expect(await evaluate("/main", signs)).toEqual(aPersons);
    await eventually("the frame has loaded", () => requests.has("/frame"));
    await eventuallyPasses(async () => {
      expect(await evaluate("/frame", "navigator.webdriver + ' ' + navigator.userAgent")).toMatch(
        /^false .*\) Chrome\/\d+\.0\.0\.0 Safari\/537\.36$/,
      );
    });

    // An override would be too late for this page's first request.
    await client.send("Target.createTarget", { url: `${base}/created` });
    await evaluate("/main", "void window.open('/popup')");
    await eventuallyPasses(() => {
      expect([...requests.keys()]).toEqual(
        expect.arrayContaining(["/created", "/popup", "/frame", "/worker.js", "/shared.js", "/service.js", "/report"]),
      );
    });
    await eventuallyPasses(async () => {
      expect(await evaluate("/created", "document.title")).toBe("else");
    });
    expect(
      await evaluate(
        "/created",
        "navigator.userAgentData.getHighEntropyValues(['fullVersionList']).then(({ fullVersionList }) => fullVersionList.length)",
      ),
    ).toBe(2);
    const page = requests.get("/created");
    for (const [path, headers] of requests) {
      expect(headers["user-agent"], path).toBe(page?.["user-agent"]);
      expect(JSON.stringify(headers), path).not.toMatch(/headless/i);
      expect(headers["accept-language"], path).toBe("en-US,en;q=0.9");
    }
    for (const [worker, agent] of Object.entries(agents)) expect(agent, worker).toBe(page?.["user-agent"]);
    expect(requests.get("/popup")?.["sec-ch-ua-full-version-list"]).toMatch(/"Chromium";v="\d+\.\d+\.\d+\.\d+"/);

    void client.send("Browser.crash");
    await client.closed;
    const after = cdpClient(await instance.connect());
    await eventuallyPasses(async () => {
      expect(await after.send("Browser.getVersion")).not.toMatchObject({
        result: { userAgent: expect.stringContaining("Headless") as unknown },
      });
    });
  });
});
