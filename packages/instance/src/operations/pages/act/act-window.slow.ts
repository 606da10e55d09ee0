import { eventually } from "@shoal/testkit";
import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const executable = findChromium("chrome");
const isMissing = executable === undefined && process.env.SHOAL_REQUIRE_ALL !== "1";

describe.skipIf(isMissing)("a browser with a window", () => {
  const session = new ActingSession({ kind: "chrome", executable: executable ?? "missing" }, { headless: false });

  it.each(["click", "load", "frame"])("does not stop at print(): on %s", async (on) => {
    await session.show(`<button id=b onclick="this.textContent = 'Clicked'; ${on === "click" ? "print()" : ""}">Go</button>
      ${on === "load" ? "<script>onload = () => print()</script>" : ""}
      ${on === "frame" ? `<iframe srcdoc="<script>print()</script>"></iframe>` : ""}`);
    for (let round = 0; round < 2; round++)
      expect(await session.done({ type: "click", selector: "#b" })).toMatchObject({
        settled: true,
        element: { name: "Clicked" },
      });
  });

  it.each([
    ["a place", "navigator.geolocation.getCurrentPosition(() => tell('given'), () => tell('refused'))"],
    ["notices", "Notification.requestPermission().then(tell)"],
    ["the clipboard", "navigator.clipboard.readText().then(() => tell('given'), () => tell('refused'))"],
    [
      "a camera",
      "navigator.mediaDevices.getUserMedia({ video: true }).then(() => tell('given'), () => tell('refused'))",
    ],
  ])("answers a page that requests %s", async (_title, ask) => {
    session.page(
      "/asks",
      `<button id=b onclick="${ask}">Ask</button><script>tell = (text) => { b.textContent = text; }</script>`,
    );
    await session.done({ type: "navigate", url: session.url("/asks", "localhost") });
    await session.done({ type: "click", selector: "#b" });
    expect(
      await eventually(async () => /refused|denied/.exec(String(await session.evaluate("b.textContent")))?.[0]),
    ).toMatch(/refused|denied/);
  });

  it("starts again each time a person closes its last tab or its window", async () => {
    for (const keys of ["ctrl+w", "alt+F4", "ctrl+w", "alt+F4"]) {
      const restarts = session.instance.events.filter(({ type }) => type === "browser_restarted").length;
      await session.instance.call("POST", "/computer/press_key", JSON.stringify({ keys: [keys] }));
      await eventually(
        () => session.instance.events.filter(({ type }) => type === "browser_restarted").length > restarts,
      );
      await session.show("<h1>Again</h1>");
    }
    expect(session.instance.events).not.toContainEqual(expect.objectContaining({ type: "ending" }));
  });
});

describe.skipIf(isMissing)("icons of pages in a browser with a window", () => {
  // Chromium requests a missing icon once, so other tests must not have opened pages of this site.
  const session = new ActingSession({ kind: "chrome", executable: executable ?? "missing" }, { headless: false });

  it("that are missing are not in failed_requests", async () => {
    const answers = new Map<string, () => Promise<void>>();
    for (const path of ["/favicon.ico", "/own-icon.png", "/touch-icon.png"])
      session.handle(path, (_request, response) => {
        answers.set(
          path,
          () =>
            new Promise((done) => {
              response.writeHead(404).end(done);
            }),
        );
      });
    session.handle("/moved-icon.png", (_request, response) => {
      response.writeHead(302, { location: "/touch-icon.png" }).end();
    });
    for (const [icon, path] of [
      ["", "/favicon.ico"],
      ["<link rel=icon href=/own-icon.png>", "/own-icon.png"],
      [`<link rel="shortcut icon" href=/moved-icon.png>`, "/touch-icon.png"],
    ] as const) {
      session.page(path.replace(/\.\w+$/, ""), `<!doctype html>${icon}<button>Go</button><p id=p></p>`);
      await session.done({ type: "navigate", url: session.url(path.replace(/\.\w+$/, "")) });
      const answer = await eventually(() => answers.get(path));
      const waiting = session.done({ type: "wait_for", text: "Answered", timeout_ms: 60_000 });
      await answer();
      await session.evaluate("fetch('/none').then(() => { p.textContent = 'Answered'; })");
      const { failed_requests } = await waiting;
      expect(failed_requests.filter(({ url }) => url.includes("icon"))).toEqual([]);
    }
  });
});
