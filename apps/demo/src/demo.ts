// npm run demo: starts the service with its defaults in a temporary folder, works in a real browser, removes the folder
// and keeps a screenshot.
import { startService } from "@shoal/cli/service";
import { ApiError, Shoal } from "@shoal/client";
import { chromium } from "playwright-core";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runApp } from "./run-app.ts";
import { startShop } from "./shop.ts";
import { Transcript } from "./transcript.ts";

const transcript = new Transcript(process.stdout);
const { step, note } = transcript;
const folder = await mkdtemp(join(tmpdir(), "shoal-demo-"));
const screenshot = join(tmpdir(), "shoal-demo.png");
const downloads = "/home/shoal/Downloads";

const shop = await startShop();
process.on("uncaughtException", (error) => {
  // The message is enough; a stack would only show the demo's own code.
  console.error(`\n${error.message}\n\n./shoal doctor checks the requirements of this machine.`);
  process.exitCode = 1;
});
try {
  const placement = process.env.SHOAL_PLACEMENT;
  const service = await step("start the service (embedded PostgreSQL, first admin key)", () =>
    startService(folder, [
      "--allow-private-hosts",
      shop.host,
      ...(placement === undefined ? [] : ["--placement", placement]),
    ]),
  );
  note(`${service.baseUrl}, process ${String(service.pid)}`);

  let status: number | null;
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });

    const profile = await step("create a profile", () => shoal.profiles.create({ name: "bookkeeping" }));
    note(`${profile.id} is called ${String(profile.name)}`);
    const key = await step("create an API key", () => shoal.apiKeys.create({ name: "demo", days_to_expire: 1 }));
    note(`${key.masked_key}, until ${String(key.expires_at)}`);

    const browser = await step("create a browser", () =>
      shoal.browsers.create({ name: "invoices", viewport: { width: 1280, height: 800 } }),
    );
    note(`${browser.session_id}, in the ${String(browser.placement)} placement`);

    const { watch_id } = await step(`watch ${downloads}`, () =>
      shoal.browsers.fs.watch.start(browser.session_id, { path: downloads }),
    );
    const arrived = (async () => {
      const files = new Set<string>();
      for await (const event of shoal.browsers.fs.watch.events(browser.session_id, watch_id)) {
        note(`${event.type.padEnd(6)} ${event.path}${event.dest_path === undefined ? "" : ` -> ${event.dest_path}`}`);
        if (event.path.endsWith(".csv") && event.type === "CREATE") files.add(event.path);
        if (files.size === 3) return [...files];
      }
      throw new Error("The watch ended before three files had arrived.");
    })();
    // Awaited below; a failure before that must not be an unhandled rejection.
    arrived.catch(() => undefined);

    const connected = await step("connect with playwright-core over CDP", () =>
      chromium.connectOverCDP(browser.cdp_ws_url),
    );
    const context = connected.contexts()[0] ?? (await connected.newContext());
    const page = context.pages()[0] ?? (await context.newPage());
    const cdp = await connected.newBrowserCDPSession();
    // Playwright would redirect downloads to its own folder; the demo needs them in the session.
    await cdp.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads, eventsEnabled: true });
    await step(`open ${shop.url}`, () => page.goto(shop.url));
    note(`title: ${await page.title()}`);
    await step("take a screenshot", () => page.screenshot({ path: screenshot }));
    note(screenshot);

    await step("click Download all, and see three files arrive", async () => {
      await page.getByRole("button", { name: "Download all" }).click();
      await arrived;
    });
    const files = await step("list them", () => shoal.browsers.fs.listFiles(browser.session_id, { path: downloads }));
    for (const file of files) note(`${file.mode}  ${String(file.size_bytes).padStart(6)}  ${file.name}`);
    await connected.close();

    await step("read the profile by its name and by its id", async () => {
      const [byName, byId] = await Promise.all([shoal.profiles.get("bookkeeping"), shoal.profiles.get(profile.id)]);
      if (byName.id !== byId.id) throw new Error("The name and the id found two profiles.");
    });
    const renamed = await step("rename the key", () => shoal.apiKeys.update(key.id, { name: "demo, renamed" }));
    note(`${renamed.masked_key} is called "${renamed.name}"`);
    await step(`make a directory of 200 files and delete it`, async () => {
      const id = browser.session_id;
      await shoal.browsers.fs.upload(id, {
        files: Array.from({ length: 200 }, (_, index) => ({
          dest_path: `/home/shoal/work/${String(index % 10)}/${String(index)}.txt`,
          file: `file ${String(index)}\n`,
        })),
      });
      await shoal.browsers.fs.deleteDirectory(id, { path: "/home/shoal/work" });
    });

    const wrongKey = new Shoal({ baseUrl: service.baseUrl, apiKey: "sk_shoal_wrong" });
    await refused("a wrong key", () => wrongKey.profiles.list());
    await refused("a profile that does not exist", () => shoal.profiles.get("nobody"));
    await refused("an empty name", () => shoal.apiKeys.update(key.id, { name: "" }));

    await step("end the session", () => shoal.browsers.delete(browser.session_id));
    await refused("an ended session", () => shoal.browsers.get(browser.session_id));

    await runApp({ shoal, service, folder: join(folder, "bookkeeper"), url: shop.url }, transcript);
  } finally {
    status = await step("stop the service", () => service.stop());
  }
  if (status !== 0) throw new Error(`The service ended with status ${String(status)}.`);
} finally {
  await shop.close();
  await rm(folder, { recursive: true, force: true });
}
transcript.end(`Done. The screenshot is in ${screenshot}; nothing else is left of this.`);
process.stdout.write(`
Next, in this folder:
  ./shoal serve                         start the service; README.md has ten lines of TypeScript, Python and curl
  ./shoal mcp install                   give your agent a browser (Claude Code, Cursor, VS Code, …)
  npm run pack -- ../shoal-sdk client   build the SDK for your program
`);

async function refused(what: string, call: () => Promise<unknown>): Promise<void> {
  const refusal = await step(`see what ${what} gets`, async () => {
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!ApiError.isInstance(error)) throw new Error(`${what} was not refused: ${String(error)}`);
    return error;
  });
  note(`${String(refusal.status)} ${refusal.code}: ${refusal.message}`);
}
