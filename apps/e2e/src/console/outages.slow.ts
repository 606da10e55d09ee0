import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchPerson } from "../testing/person.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { openConsole, signIn } from "./open-console.ts";

const test = useService();
const session = useSession(test, {
  name: "watched",
  start_url: "data:text/html,<script>console.log('a first line')</script>",
  telemetry: { browser: { console: { enabled: true } } },
});

/** The way to the service, which can be cut like by a restart. */
class Way {
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isCut = false;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((near) => {
      if (this.#isCut) {
        near.on("error", () => undefined).resetAndDestroy();
        return;
      }
      const far = connect(Number(this.#target.port), this.#target.hostname);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy()).on("close", () => other.destroy());
      }
    });
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  /** Keeps its port, which no other program may take meanwhile. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  open(): void {
    this.#isCut = false;
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

let person: Browser;
let way: Way;
beforeAll(async () => {
  person = await launchPerson();
  way = new Way(test.service.baseUrl);
  await way.listen();
});
afterAll(async () => {
  await person.close();
  way.close();
});

it("keeps its frame and its rows while the service is away, tells so once, and continues afterwards", async () => {
  const { page } = await openConsole(person, way.url, { path: "sessions" });
  await signIn(page, test.service.apiKey);
  const rows = page.getByText("watched", { exact: true }).first();
  await rows.waitFor();
  const notice = page.getByText("The service does not answer", { exact: true });
  const navigation = page.getByRole("navigation", { name: "Main" });
  await page.evaluate(() => Object.assign(globalThis, { isTheSamePage: true }));
  const isTheSamePage = () => page.evaluate(() => Reflect.get(globalThis, "isTheSamePage") as unknown);

  way.cut();
  await notice.waitFor();
  expect(await notice.count()).toBe(1);
  expect([await rows.isVisible(), await navigation.isVisible()]).toEqual([true, true]);
  for (const text of ["Request failed", "No session is running", "No session matches"])
    expect([text, await page.getByText(text).count()]).toEqual([text, 0]);

  // A page whose files were not loaded before.
  await navigation.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("img", { name: "Loading this part of the page again" }).waitFor();
  expect([await notice.count(), await navigation.isVisible()]).toEqual([1, true]);
  expect(await page.getByText(/preload|imported module|did not work/i).count()).toBe(0);
  expect(await isTheSamePage()).toBe(true);

  way.open();
  await page.getByRole("heading", { name: "Webhooks", exact: true }).waitFor();
  await notice.waitFor({ state: "hidden" });
  await navigation.getByRole("link", { name: "Sessions" }).click();
  await rows.waitFor();
  await page.close();
});

it("loads the page again for a file that an update removed, once", async () => {
  const { page } = await openConsole(person, test.service.baseUrl);
  await signIn(page, test.service.apiKey);
  const loads: string[] = [];
  let isMissing = true;
  let refused = 0;
  await page.route(/\/assets\/(?:proxies|extensions)-page[^/]*\.(?:js|css)$/, async (route) => {
    if (!isMissing) return route.fallback();
    refused += 1;
    return route.fulfill({ status: 404, body: "" });
  });
  const navigation = page.getByRole("navigation", { name: "Main" });
  page.on("request", (request) => {
    if (!request.isNavigationRequest()) return;
    isMissing = false;
    loads.push(request.url());
  });
  await navigation.getByRole("link", { name: "Proxies" }).click();
  await page.getByRole("heading", { name: "Proxies", exact: true }).waitFor();
  expect(loads).toHaveLength(1);

  // A file that stays missing: no loop, and the rest of the page can be used.
  isMissing = true;
  await navigation.getByRole("link", { name: "Extensions" }).click();
  await page.getByText("A file of this page could not be loaded from the service.").waitFor();
  expect([loads.length, refused > 0, await navigation.isVisible()]).toEqual([1, true, true]);
  isMissing = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Extensions", exact: true }).waitFor();
  await page.close();
});

it("says that telemetry, logs and output are empty only after everything stored has arrived", async () => {
  const { page } = await openConsole(person, test.service.baseUrl, { path: `sessions/${session.id}?tab=details` });
  await signIn(page, test.service.apiKey);
  await page.getByRole("tab", { name: "Console" }).waitFor();
  const gate = Promise.withResolvers<undefined>();
  await page.route(/\/(?:telemetry|logs)\/stream/, async (route) => {
    await gate.promise;
    await route.continue();
  });
  await page.clock.install();
  for (const [tab, label] of [
    ["Console", "Reading telemetry"],
    ["Logs", "Reading the log"],
  ] as const) {
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("img", { name: label }).waitFor();
    await page.clock.runFor(20_000);
    expect(await page.getByRole("img", { name: label }).isVisible()).toBe(true);
    expect(await page.getByText(/Waiting for the first event|The log is empty/).count()).toBe(0);
  }
  gate.resolve(undefined);
  await page.clock.resume();
  await page.getByRole("tab", { name: "Console" }).click();
  await page.getByText("a first line").waitFor();
  await page.getByRole("tab", { name: "Network" }).click();
  await page.getByText("The session does not capture network events").waitFor();
  await page.close();
});
