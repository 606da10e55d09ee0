import type { Browser } from "@shoal/client";
import { locateFullChromium } from "@shoal/placement";
import type { Browser as PersonBrowser, Page } from "playwright-core";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fullChromiumPlacements, placements } from "../testing/components.ts";
import { startPasswordProxy } from "../testing/password-proxy.ts";
import { launchPerson } from "../testing/person.ts";
import { play, recordedRed } from "../testing/play-film.ts";
import { chromiums, descendantsOf } from "../testing/processes.ts";
import { openCdp, type RawCdp } from "../testing/raw-cdp.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
const isolation = "context";
const size = { width: 800, height: 600 };
const content = `<!doctype html><body style="margin:0;background:green"><textarea id="field" style="width:300px;height:80px"></textarea>`;

interface OpenSession extends Disposable {
  readonly id: string;
  readonly cdp: RawCdp;
  readonly page: string;
}

async function open({ cdp_ws_url, session_id: id }: Browser): Promise<OpenSession> {
  const cdp = await openCdp(cdp_ws_url);
  const { targetInfos } = await cdp.result("Target.getTargets");
  const [first] = targetInfos as { readonly targetId: string }[];
  const { sessionId } = await cdp.result("Target.attachToTarget", { targetId: first?.targetId, flatten: true });
  const page = String(sessionId);
  const { frameTree } = await cdp.result("Page.getFrameTree", {}, page);
  const frameId = (frameTree as { readonly frame: { readonly id: string } }).frame.id;
  await cdp.result("Page.setDocumentContent", { frameId, html: content }, page);
  return {
    id,
    cdp,
    page,
    [Symbol.dispose]() {
      cdp[Symbol.dispose]();
    },
  };
}

// The gateway is the same in all placements.
const shell = placements.slice(0, 1).map((one) => ({ ...one, name: "a headless shell", executable: undefined }));
const full = (await locateFullChromium())?.executable;
const kinds = [
  ...shell,
  ...fullChromiumPlacements.slice(0, 1).map((one) => ({ ...one, name: "a full Chromium", executable: full })),
];

describe.each(kinds)("sessions that share $name, placement $title", ({ executable, placement, skip }) => {
  describe.skipIf(skip || process.platform === "win32")("with a service", () => {
    let person: PersonBrowser;
    let site: Site;
    let one: OpenSession;
    let other: OpenSession;
    const test = useService(() => [
      ...["--placement", placement, "--allow-private-hosts", "127.0.0.1"],
      ...(executable === undefined ? [] : ["--chromium", executable]),
    ]);
    beforeAll(async () => {
      person = await launchPerson();
      site = await serveSite((request, response) => response.end(request.headers.via ?? "direct"));
      const { browsers } = test.shoal;
      one = await open(await browsers.create({ isolation, viewport: size, timeout_seconds: 600 }));
      other = await open(await browsers.create({ isolation, viewport: size, timeout_seconds: 600 }));
    });
    afterAll(async () => {
      one[Symbol.dispose]();
      other[Symbol.dispose]();
      await person.close();
      await site.close();
    });

    const watch = async (address: string | null | undefined): Promise<Page> => {
      const viewer = await person.newPage({ viewport: { width: 1200, height: 900 } });
      await viewer.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await viewer.goto(address ?? "");
      await viewer.waitForSelector("body.showing");
      return viewer;
    };
    const field = () => one.cdp.evaluate("field.value", one.page);

    it("are shown and controlled in a live view, which copies and pastes without their clipboard", async () => {
      // The clipboard of the browser contains a text of another session.
      await other.cdp.evaluate("field.value = 'Zxq7Secret'; field.focus(); field.select()", other.page);
      for (const type of ["rawKeyDown", "keyUp"]) {
        const key = { type, modifiers: 2, key: "c", code: "KeyC", windowsVirtualKeyCode: 67, commands: ["Copy"] };
        await other.cdp.result("Input.dispatchKeyEvent", key, other.page);
      }
      const viewer = await watch((await test.shoal.browsers.get(one.id)).browser_live_view_url);
      const clipboard = () => viewer.evaluate(() => navigator.clipboard.readText());
      await viewer.evaluate(() => navigator.clipboard.writeText("pasted"));
      await viewer.locator("#screen").click({ position: { x: 100, y: 40 } });
      await viewer.keyboard.type("typed ");
      await viewer.keyboard.press("Control+v");
      await expect.poll(field).toBe("typed pasted");
      await viewer.keyboard.press("Control+a");
      await viewer.keyboard.press("Control+c");
      await expect.poll(clipboard).toBe("typed pasted");
      await one.cdp.evaluate("field.value = 'cut me'; field.select()", one.page);
      await viewer.keyboard.press("Control+x");
      await expect.poll(clipboard).toBe("cut me");
      await expect.poll(field).toBe("");
      await viewer.close();
    });

    it("paste nothing that another session copied or selected, whichever key, command or button they use", async () => {
      const theft = "Zxq7Secret";
      const send = (method: string, params: object, at: OpenSession) => at.cdp.send(method, params, at.page);
      await other.cdp.evaluate(`field.value = "${theft}"; field.focus()`, other.page);
      const mouse = { x: 20, y: 10, button: "left", clickCount: 3 };
      // The browser has a second clipboard, for the text that a mouse selected.
      for (const type of ["mousePressed", "mouseReleased"])
        await other.cdp.result("Input.dispatchMouseEvent", { type, ...mouse }, other.page);
      const copy = { type: "rawKeyDown", modifiers: 2, key: "c", code: "KeyC", windowsVirtualKeyCode: 67 };
      await other.cdp.result("Input.dispatchKeyEvent", copy, other.page);
      await one.cdp.result("Page.bringToFront", {}, one.page);
      await one.cdp.evaluate("field.value = ''; field.focus()", one.page);
      const names = ["Paste", "Open", "Insert", "v", "V", "Unidentified", "Process", ""];
      const commands = [
        "Paste",
        "PasteAndMatchStyle",
        "pasteGlobalSelection",
        "PasteAsPlainText",
        "yank",
        "insertText",
      ];
      const keys = [0, 1, 2, 4, 8, 10].flatMap((modifiers) => [
        ...names.map((key) => ({ modifiers, key })),
        ...names.map((code) => ({ modifiers, code })),
        ...[45, 86, 96, 197].map((windowsVirtualKeyCode) => ({ modifiers, windowsVirtualKeyCode })),
      ]);
      for (const params of [...keys, ...commands.map((name) => ({ key: "a", commands: [name] }))])
        for (const type of ["rawKeyDown", "keyDown", "char"])
          await send("Input.dispatchKeyEvent", { type, ...params }, one);
      for (const method of ["Input.dispatchMouseEvent", "Input.emulateTouchFromMouseEvent"])
        for (const type of ["mousePressed", "mouseReleased"])
          await send(method, { type, x: 20, y: 10, button: "middle", clickCount: 1 }, one);
      expect(await field()).not.toContain(theft);
      await other.cdp.evaluate("getSelection().empty(); field.value = ''", other.page);
    });

    it("copy the selection that the keys before the copy have made", async () => {
      const viewer = await watch((await test.shoal.browsers.get(one.id)).browser_live_view_url);
      await viewer.locator("#screen").click({ position: { x: 100, y: 40 } });
      const texts = Array.from({ length: 30 }, (_, round) => `text ${round}`);
      for (const text of texts) {
        await viewer.evaluate(() => navigator.clipboard.writeText("earlier"));
        await one.cdp.evaluate(`field.value = '${text}'; field.focus(); field.setSelectionRange(0, 0)`, one.page);
        await viewer.keyboard.press("Control+a");
        await viewer.keyboard.press("Control+c");
        await expect.poll(() => viewer.evaluate(() => navigator.clipboard.readText())).not.toBe("earlier");
        expect(await viewer.evaluate(() => navigator.clipboard.readText())).toBe(text);
      }
      await viewer.close();
    });

    it("are handed over one by one", async () => {
      const { browsers } = test.shoal;
      const handoff = await (
        await browsers.attach(one.id)
      ).handoff.request({ message: "Look", on_automation: "refuse" });
      const viewer = await person.newPage();
      await viewer.goto(handoff.url ?? "");
      await viewer.click("#handoff-take");
      await viewer.waitForSelector("body.showing:not(.read-only)");
      const evaluate = ({ cdp, page }: OpenSession) => cdp.send("Runtime.evaluate", { expression: "1" }, page);
      expect((await evaluate(one))?.error?.message).toContain("handoff_active");
      expect((await evaluate(other))?.result).toBeDefined();
      await browsers.handoff.release(one.id);
      await expect.poll(async () => (await evaluate(one))?.result).toBeDefined();
      await viewer.close();
    });

    it("use separate proxies with separate passwords", async () => {
      const { browsers, proxies } = test.shoal;
      await using first = await startPasswordProxy("ann", "p@ss:1");
      await using second = await startPasswordProxy("bob", "p@ss:2");
      const ids = await Promise.all(
        [
          { to: first, username: "ann", password: "p@ss:1" },
          { to: second, username: "bob", password: "p@ss:2" },
        ].map(async ({ to, ...credentials }) => {
          const config = { host: "127.0.0.1", port: Number(new URL(to.url).port), ...credentials };
          return (await proxies.create({ type: "custom", protocol: "http", config })).id ?? "";
        }),
      );
      await using created = await browsers.create({ isolation, proxy_id: ids[1] ?? "" });
      using proxied = await open(created);
      await browsers.update(one.id, { proxy_id: ids[0] ?? "" });
      const { port } = new URL(site.url);
      const navigate = ({ cdp, page }: OpenSession, host: string) =>
        cdp.result("Page.navigate", { url: `http://${host}:${port}/` }, page);
      expect(await navigate(one, "one.invalid")).not.toHaveProperty("errorText");
      expect(await navigate(proxied, "proxied.invalid")).not.toHaveProperty("errorText");
      expect(await navigate(other, "other.invalid")).toHaveProperty("errorText");
      expect(await navigate(other, "127.0.0.1")).not.toHaveProperty("errorText");
      await expect.poll(() => other.cdp.evaluate("document.body.innerText", other.page)).toBe("direct");
      // Chromium itself requests other hosts sometimes.
      const sitesOf = (asked: readonly string[]) => [...new Set(asked)].filter((host) => host.includes(".invalid:"));
      expect([first, second].map(({ asked }) => sitesOf(asked))).toEqual([
        [`one.invalid:${port}`],
        [`proxied.invalid:${port}`],
      ]);
      await browsers.update(one.id, { proxy_id: null });
    });

    it("are recorded one by one, and leave no process", async () => {
      const { browsers } = test.shoal;
      const created = await browsers.create({ isolation, viewport: size });
      using filmed = await open(created);
      const { replay_id: id, replay_view_url: url = "" } = await browsers.replays.start(filmed.id);
      await filmed.cdp.evaluate("document.body.style.background = 'red'", filmed.page);
      await other.cdp.evaluate("document.body.style.background = 'blue'", other.page);
      const viewer = await person.newPage();
      await recordedRed(viewer, url);
      await browsers.delete(filmed.id);
      const film = await buffer(Readable.from((await browsers.replays.download(filmed.id, id)).stream));
      const shown = await play(viewer, film);
      await viewer.close();
      expect(shown.width).toBe(size.width);
      expect(shown.last.slice(0, 3).map((part) => part > 128)).toEqual([true, false, false]);
      await expect.poll(() => chromiums(descendantsOf(test.service.pid)).length).toBe(1);
    });

    it.skipIf(executable !== undefined)("start a second browser when the first one has 16", async () => {
      const sessions = await Promise.all(
        Array.from({ length: 15 }, () => test.shoal.browsers.create({ isolation, viewport: size })),
      );
      await expect.poll(() => chromiums(descendantsOf(test.service.pid)).length).toBe(2);
      await Promise.all(sessions.map(({ session_id: id }) => test.shoal.browsers.delete(id)));
    });

    it("refuse input that reads the clipboard, with the reason", async () => {
      const { browsers } = test.shoal;
      expect(await refusalOf(browsers.act(one.id, { type: "press", keys: ["Control+v"] }))).toMatchObject({
        status: 400,
        message: expect.stringMatching(/clipboard.*Create the session without isolation/) as string,
      });
    });
  });
});
