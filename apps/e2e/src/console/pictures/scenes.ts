import type { Page } from "playwright-core";
import type { World } from "./world.ts";

/** A page of the console in one state. */
export interface Scene {
  readonly name: string;
  /** Below `/console/`, or an absolute path. */
  readonly path: string;
  /** Waits for content that comes later than the page, or opens something. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Without a sign-in. Default `false`. */
  readonly isSignedOut?: boolean;
  /** The whole page, or only its visible part. Default `true`. */
  readonly isWhole?: boolean;
}

const film = async (page: Page): Promise<void> => {
  await page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) >= 2);
  await page.evaluate(() => {
    const video = document.querySelector("video");
    if (video !== null) video.currentTime = 1.4;
  });
};

const live = (page: Page) => page.frameLocator("iframe").getByText("live", { exact: true }).waitFor();
const seen = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();

function tabsOf(world: World): Scene[] {
  const at = (tab: string, prepare: Scene["prepare"], id = world.session): Scene => ({
    name: `session-${tab.replace(/&.*/, "")}${id === world.session ? "" : id === world.ended ? "-ended" : "-failed"}`,
    path: `sessions/${id}?tab=${tab}`,
    ...(prepare !== undefined && { prepare }),
  });
  return [
    {
      name: "session-live",
      path: `sessions/${world.session}`,
      prepare: async (page) => {
        await live(page);
        // Narrow screens show the console's lines in a separate tab.
        if ((page.viewportSize()?.width ?? 0) >= 1280) await seen(/4 open orders|the live view/)(page);
      },
    },
    at("console", seen("4 open orders")),
    at("network", seen("/api/orders")),
    at("events", seen(/page navigation|live view/)),
    at("files&path=/home/shoal/Downloads", seen("orders.csv")),
    at("terminal", seen("A shell in the session")),
    at("processes", seen("sleep 3600")),
    at("logs", (page) => page.getByRole("log").waitFor()),
    at("recordings", (page) => page.getByRole("link", { name: "Play" }).first().waitFor()),
    at("details", (page) => page.getByLabel("Life of the session").getByText("Started", { exact: true }).waitFor()),
    { name: "session-live-ended", path: `sessions/${world.ended}` },
    ...["console", "network", "files", "terminal", "processes", "logs", "recordings", "details"].map((tab) =>
      at(tab, undefined, world.ended),
    ),
    { name: "session-live-failed", path: `sessions/${world.failed}` },
    at("details", seen("No recordings"), world.failed),
    at("console", undefined, world.failed),
    {
      name: "session-request",
      path: `sessions/${world.session}?tab=network`,
      prepare: async (page) => {
        await page
          .getByRole("button", { name: /api\/stock/ })
          .first()
          .click();
        await page.getByRole("dialog").waitFor();
      },
      isWhole: false,
    },
    {
      name: "session-end-dialog",
      path: `sessions/${world.session}`,
      prepare: (page) => page.getByRole("button", { name: "End", exact: true }).click(),
      isWhole: false,
    },
    {
      name: "session-screenshot",
      path: `sessions/${world.session}`,
      prepare: async (page) => {
        await page.getByRole("button", { name: "Screenshot" }).click();
        await page.getByRole("img", { name: /front page/ }).waitFor();
      },
      isWhole: false,
    },
    {
      name: "session-settings-dialog",
      path: `sessions/${world.session}?tab=details`,
      prepare: async (page) => {
        await page.getByRole("button", { name: "Change", exact: true }).click();
        await page.getByRole("dialog").waitFor();
      },
      isWhole: false,
    },
    {
      name: "session-connect",
      path: `sessions/${world.session}`,
      prepare: async (page) => {
        await page.getByRole("button", { name: "Connect" }).click();
        await page.getByLabel("Client").selectOption("WebdriverIO");
      },
      isWhole: false,
    },
  ];
}

const sections = [
  ["profiles", "buyer"],
  ["pools", "search"],
  ["proxies", "office"],
  ["extensions", "blocker"],
  ["apps", "shop"],
  ["apps?tab=deployments", "index.js"],
  ["invocations", "shop / ship"],
  ["schedules", "shop / price"],
  ["connections", "toast.test"],
  ["credentials", "ada"],
  ["providers", "company"],
  ["webhooks", "/hooks"],
  ["telemetry", "collector"],
  ["audit", /^browsers\./],
  ["audit?tab=destinations", "destinations"],
  ["projects", "research"],
  ["keys", "admin"],
] as const;

const dialogs = [
  ["profiles", "New profile"],
  ["pools", "New pool"],
  ["proxies", "New proxy"],
  ["connections", "New connection"],
  ["credentials", "New credential"],
  ["webhooks", "New webhook"],
  ["keys", "New key"],
  ["schedules", "New schedule"],
] as const;

/** Lists without rows, in the project `empty`. */
const empty = ["sessions", "profiles", "pools", "apps", "invocations", "connections", "webhooks", "usage"] as const;

export function scenesOf(world: World): Scene[] {
  const one = (name: string, path: string, prepare?: Scene["prepare"]): Scene => ({
    name,
    path,
    ...(prepare !== undefined && { prepare }),
  });
  const resource = (kind: string, id: string): Scene => one(kind, `${kind}s/${id}`);
  return [
    { name: "sign-in", path: "", isSignedOut: true, prepare: (page) => page.getByLabel("API key").waitFor() },
    {
      name: "sign-in-refused",
      path: "",
      isSignedOut: true,
      prepare: async (page) => {
        await page.getByLabel("API key").fill("sk_shoal_wrong");
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByRole("alert").waitFor();
      },
    },
    one("home", ""),
    one("sessions", "sessions", seen("order-agent")),
    one("sessions-all", "sessions?status=all", seen("checkout-agent")),
    one("sessions-grid", "sessions?view=grid", (page) =>
      // Only visible sessions have a picture.
      page.waitForFunction(() => document.querySelectorAll("[role=listitem] img").length >= (innerWidth < 800 ? 1 : 3)),
    ),
    one("sessions-no-match", "sessions?query=nothing-has-this-name"),
    one("session-missing", "sessions/missing", (page) => page.getByRole("alert").waitFor()),
    one("not-found", "nowhere"),
    ...tabsOf(world),
    one("replay", `sessions/${world.session}/replays/${world.recording}`, async (page) => {
      await page
        // Narrow screens list only the chapters at first.
        .getByRole("button", { name: (page.viewportSize()?.width ?? 0) < 800 ? /Read the orders/ : /Opened http/ })
        .first()
        .waitFor();
      await film(page);
    }),
    one("replay-running", world.runningRecording, live),
    one("replay-missing", `sessions/${world.session}/replays/missing`),
    { name: "replay-shared", path: world.sharedRecording, isSignedOut: true, prepare: film },
    { name: "replay-expired", path: "/browser/replay/expired.link", isSignedOut: true },
    { name: "live-expired", path: "/browser/live/expired.link", isSignedOut: true },
    ...sections.map(([path, text]) => one(path.replace("?tab=", "-"), path, seen(text))),
    ...dialogs.map(([path, button]) => ({
      ...one(`${path}-new`, path, async (page) => {
        await page.getByRole("button", { name: button }).first().click();
        await page.getByRole("dialog").waitFor();
      }),
      isWhole: false,
    })),
    resource("profile", world.profile),
    resource("pool", world.pool),
    resource("project", world.project),
    resource("webhook", world.webhook),
    resource("connection", world.connection),
    one("connection-waiting", `connections/${world.waitingConnection}`),
    resource("deployment", world.deployment),
    one("deployment-failed", `deployments/${world.failedDeployment}`),
    resource("invocation", world.invocation),
    one("invocation-failed", `invocations/${world.failedInvocation}`),
    one("usage", "usage", (page) => page.getByRole("img", { name: /^Session minutes per day/ }).waitFor()),
    one("usage-storage", "usage?days=30&metric=storage"),
    ...empty.map((path) => one(`empty-${path}`, `${path}?project=empty`)),
    {
      name: "reference",
      path: "/docs/api/browsers",
      prepare: (page) => page.getByRole("heading", { name: "browsers.create" }).waitFor(),
      isWhole: false,
    },
    {
      name: "failure",
      path: "profiles",
      prepare: async (page) => {
        await page.route("**/profiles?**", (route) =>
          route.fulfill({
            status: 503,
            json: { code: "unavailable", message: "The database does not answer. Try again in a minute." },
          }),
        );
        await page.reload();
        await page.getByRole("alert").waitFor();
        await page.unroute("**/profiles?**");
      },
    },
    {
      name: "loading",
      path: "profiles",
      prepare: async (page) => {
        await page.route("**/profiles?**", () => undefined);
        await page.reload({ waitUntil: "commit" });
        await page.locator("[aria-label^=Loading]").first().waitFor();
      },
    },
  ];
}
