import { chromium, type Browser } from "playwright-core";
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually, waitLimitMs } from "@shoal/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { killAll, processesWith } from "../../testing/processes.ts";
import { runInstance, type RunningInstance } from "../../testing/run-instance.ts";

describeChromium("Playwright's own protocol", (chromiumKind) => {
  let instance: RunningInstance;
  let door: { readonly address: string; close(): void };
  let site: Awaited<ReturnType<typeof serveSite>>;
  beforeAll(async () => {
    instance = await runInstance({ chromium: chromiumKind });
    await mkdir(join(instance.config.root, "home/shoal"), { recursive: true });
    await instance.assign({ timeout_seconds: 300 });
    door = await openDoor(instance.config.listen_path);
    site = await serveSite();
  });
  afterAll(async () => {
    door.close();
    site.close();
    await instance[Symbol.asyncDispose]();
  });

  const files = () =>
    readdirSync(join(instance.config.root, "home/shoal")).filter((name) => name.startsWith(".playwright"));
  const open = () => chromium.connect(door.address);

  it("sends files of the client, saves downloads there, and leaves nothing when the last client goes", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-pw-"));
    await writeFile(join(folder, "letter.txt"), "hello from here");
    const browser = await open();
    const page = await browser.newPage();
    await page.goto(site.url);
    await page.locator("input").setInputFiles(join(folder, "letter.txt"));
    expect(await page.locator("input").evaluate((input: HTMLInputElement) => input.files?.[0]?.text())).toBe(
      "hello from here",
    );
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("a").click()]);
    await download.saveAs(join(folder, "saved.txt"));
    expect(await readFile(join(folder, "saved.txt"), "utf8")).toBe("a file");
    expect(browser.contexts().length).toBe(2);
    expect(files()).toHaveLength(1);
    await browser.close();
    await eventually("its files are removed", () => files().length === 0);
    await eventually("its process ends", () => bindings(instance).length === 0);
    await eventually("the session has the download", () =>
      existsSync(join(instance.config.root, "home/shoal/Downloads/file.txt")),
    );
    await rm(folder, { recursive: true });
  });

  it("sends requests of API request contexts through the egress gateway, also after redirects", async () => {
    const browser = await open();
    const { request } = await browser.newContext();
    // No page uses this name.
    const host = site.host.replace("127.0.0.1", "localhost");
    expect(await (await request.get(`http://${host}/away`)).text()).toContain("<input");
    expect(instance.egress.hosts.filter((asked) => asked === host)).toEqual([host, host]);
    const proxied = await browser.newContext({ proxy: { server: `http://${site.host}` } });
    // The process of the protocol cannot reach the proxy itself: the gateway does.
    await proxied.request.get("http://shop.example/").catch(() => undefined);
    expect(site.proxied).toEqual([]);
    await browser.close();
  });

  it("records videos of pages, which the client saves", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-pw-"));
    const browser = await open();
    const context = await browser.newContext({
      viewport: { width: 640, height: 400 },
      recordVideo: { dir: join(folder, "never"), size: { width: 320, height: 200 } },
    });
    const page = await context.newPage();
    await page.setContent("<body style='background: red'>");
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    const other = await context.newPage();
    await context.close();
    await page.video()?.saveAs(join(folder, "one.webm"));
    await other.video()?.saveAs(join(folder, "two.webm"));
    for (const name of ["one.webm", "two.webm"]) expect(await sizeOf(join(folder, name))).toEqual("320,200");
    // A folder of the client's machine is not one of the session.
    expect(existsSync(join(folder, "never"))).toBe(false);
    await browser.close();
    await eventually("its files are removed", () => files().length === 0);
    await rm(folder, { recursive: true });
  });

  it("encodes no video of a client that has gone", async () => {
    const browser = await open();
    const context = await browser.newContext({ recordVideo: { dir: "a", size: { width: 320, height: 200 } } });
    await context.newPage();
    const folder = await eventually("the video begins", () =>
      files().find((name) => name.startsWith(".playwright-videos")),
    );
    const encoders = () => processesWith(join(instance.config.root, "home/shoal", folder));
    await eventually("ffmpeg runs", () => encoders().length === 1);
    await browser.close();
    await eventually("ffmpeg ends", () => encoders().length === 0);
    await eventually("its files are removed", () => files().length === 0);
  });

  it("keeps the pages of one client when another one leaves, and closes those of the other", async () => {
    const [one, two] = await Promise.all([open(), open()]);
    const page = await one.newPage();
    const other = await two.newPage();
    const session = await other.context().newCDPSession(other);
    const { targetId } = (await session.send("Target.getTargetInfo")).targetInfo;
    const browser = await one.newBrowserCDPSession();
    const isOpen = async () =>
      (await browser.send("Target.getTargets")).targetInfos.some((target) => target.targetId === targetId);
    expect(await isOpen()).toBe(true);
    await two.close();
    await eventually("the page of the other client is closed", async () => !(await isOpen()));
    await page.setContent("<title>still here</title>");
    expect(await page.title()).toBe("still here");
    await one.close();
  });

  it("ends clients whose process ends, and serves the next", async () => {
    const browser = await open();
    const gone = new Promise((resolve) => browser.once("disconnected", resolve));
    // The process of the clients before may still be ending.
    await expect.poll(() => bindings(instance)).toHaveLength(1);
    killAll(bindings(instance));
    await gone;
    const next = await open();
    expect(next.version()).toMatch(/^\d/);
    await next.close();
    await eventually("its files are removed", () => files().length === 0);
  });

  describe("with another client", () => {
    let neighbour: Browser;
    beforeAll(async () => {
      neighbour = await open();
    });
    afterAll(() => neighbour.close());

    it.each<[string, RegExp, (browser: Browser, outside: string) => Promise<unknown>]>([
      ["a server", /not available/, (browser) => browser.bind("mine", { host: "0.0.0.0", port: 0 })],
      ["the end of the server", /not available/, (browser) => browser.unbind()],
      [
        "client certificates",
        /not available/,
        (browser) =>
          browser.newContext({ clientCertificates: [{ origin: "https://a.example", pfx: Buffer.from("a") }] }),
      ],
      ["another browser", /not allowed/, (browser) => remote(browser, "BrowserType").launch({}, {})],
      [
        "another CDP connection",
        /not allowed/,
        (browser) => remote(browser, "BrowserType").connectOverCDP({ endpointURL: "http://169.254.169.254" }, {}),
      ],
      [
        "a new request context",
        /not allowed/,
        (browser) => remote(browser, "Playwright").newRequest({ proxy: { server: "http://127.0.0.1:1" } }, {}),
      ],
      [
        "tools for local files",
        /no LocalUtils/,
        (browser) => remote(browser, "LocalUtils").harOpen({ file: "/etc/passwd" }, {}),
      ],
      [
        "a file of the host to upload",
        /not allowed when the client is not local/,
        async (browser) => {
          const page = await browser.newPage();
          await page.setContent("<input type=file>");
          const files = { selector: "input", localPaths: ["/etc/passwd"], strict: true };
          return channel(page.mainFrame()).setInputFiles(files, { timeout: waitLimitMs });
        },
      ],
      [
        "a download outside its folder",
        /restricted/,
        async (browser, outside) => {
          const page = await browser.newPage();
          await page.goto(site.url);
          const [download] = await Promise.all([page.waitForEvent("download"), page.locator("a").click()]);
          return channel((download as unknown as { _artifact: object })._artifact).saveAs({ path: outside }, {});
        },
      ],
      [
        "a recorder with a file",
        /./,
        async (browser, outside) => {
          const context = await browser.newContext();
          await channel(context).enableRecorder({ language: "javascript", mode: "recording", outputFile: outside }, {});
          await (await context.newPage()).setContent("<button>a</button>");
          throw new Error("it wrote no file");
        },
      ],
      [
        "a trace outside its folder",
        /./,
        async (browser, outside) => {
          const context = await browser.newContext();
          const { tracing } = context;
          const name = `../../../../../../../..${outside}`;
          await channel(tracing).tracingStart({ name, snapshots: true }, {});
          await channel(tracing).tracingStartChunk({ name, title: "a" }, {});
          await (await context.newPage()).setContent("a");
          await channel(tracing).tracingStopChunk({ mode: "entries" }, {});
          throw new Error("it wrote no file");
        },
      ],
    ])("refuses %s", async (_what, problem, ask) => {
      const folder = await mkdtemp(join(tmpdir(), "shoal-pw-"));
      const outside = join(folder, "outside");
      const browser = await open();
      await expect(Promise.resolve().then(() => ask(browser, outside))).rejects.toThrow(problem);
      expect(readdirSync(folder)).toEqual([]);
      await browser.close();
      await rm(folder, { recursive: true });
      const context = await neighbour.newContext();
      await context.close();
    });
  });
});

/** Of a video. */
async function sizeOf(path: string): Promise<string> {
  const fields = ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height", "-of", "csv=p=0"];
  const { stdout } = await promisify(execFile)("ffprobe", [...fields, path]);
  return stdout.trim();
}

type Channel = Readonly<
  Record<
    | "connectOverCDP"
    | "enableRecorder"
    | "harOpen"
    | "launch"
    | "newRequest"
    | "saveAs"
    | "setInputFiles"
    | "tracingStart"
    | "tracingStartChunk"
    | "tracingStopChunk",
    (params: object, metadata: object) => Promise<unknown>
  >
>;

/** Sends messages that the client would not send. */
function channel(object: object): Channel {
  return (object as { _channel: Channel })._channel;
}

/** An object of the server that the client does not show. */
function remote(browser: Browser, type: string): Channel {
  const { _connection } = browser as unknown as { _connection: { _objects: ReadonlyMap<string, { _type: string }> } };
  const found = [..._connection._objects.values()].find(({ _type }) => _type === type);
  if (found === undefined) throw new Error(`no ${type}`);
  return channel(found);
}

function bindings(instance: RunningInstance): readonly number[] {
  return processesWith(join(instance.config.root, "home"));
}

async function openDoor(path: string) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    const inner = connect(path);
    sockets.add(socket.on("error", () => inner.destroy()));
    inner.on("error", () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/playwright`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function serveSite() {
  /** Addresses that clients of a proxy ask for. */
  const proxied: string[] = [];
  const server = createServer((request, response) => {
    if (request.url?.startsWith("http") === true) proxied.push(request.url);
    if (request.url === "/away") {
      response.writeHead(302, { location: "/" }).end();
      return;
    }
    if (request.url === "/file") {
      response.writeHead(200, { "content-disposition": "attachment; filename=file.txt" }).end("a file");
      return;
    }
    response.writeHead(200, { "content-type": "text/html" }).end("<input type=file><a href=/file>file</a>");
  });
  server.on("connect", (request, socket) => {
    proxied.push(request.url ?? "");
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    host,
    proxied,
    url: `http://${host}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
