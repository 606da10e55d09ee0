import { eventually } from "@shoal/testkit";
import Kernel from "@onkernel/sdk";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { startCuttingProxy } from "../testing/cutting-proxy.ts";
import { firstPageOf } from "../testing/page.ts";
import { launchPerson } from "../testing/person.ts";
import { chromiums } from "../testing/processes.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";
import { serveSite, type Site } from "../testing/site.ts";
const size = { width: 900, height: 600 };
const hrefOf = (link: Element): string => (link as HTMLAnchorElement).href;

/** A page that records its events, with a focused field. */
const recording = `<!doctype html><title>recording</title><body style="margin:0;height:3000px"><textarea id="field" style="position:absolute;left:10px;top:10px;width:300px;height:80px"></textarea><script>
globalThis.seen = [];
for (const type of ["mousedown", "mouseup", "click", "dblclick", "contextmenu", "keydown", "keyup", "compositionend"])
  addEventListener(type, (event) => seen.push([event.type, event.clientX ?? event.key ?? event.data, event.clientY ?? event.code, event.button ?? event.isTrusted]), true);
field.focus();
</script>`;

describe.each(placements)("live view in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a session", () => {
    let site: Site;
    const test = useService(() => [
      "--placement",
      placement,
      "--allow-private-hosts",
      "127.0.0.1",
      "--log-level",
      "debug",
    ]);
    const session = useSession(test, { viewport: size });
    /** The viewer's own browser. */
    let person: Browser;
    /** An automation client of the session's browser. */
    let client: Browser;
    let page: Page;
    beforeAll(async () => {
      site = await serveSite();
      person = await launchPerson();
      client = await chromium.connectOverCDP((await test.shoal.browsers.get(session.id)).cdp_ws_url);
      page = await firstPageOf(client);
      await page.setContent(recording);
    });
    afterAll(async () => {
      await client.close();
      await person.close();
      await site.close();
    });

    const addressOf = async (
      kind: "browser_live_view_url" | "browser_live_view_read_only_url" = "browser_live_view_url",
    ) => (await test.shoal.browsers.get(session.id))[kind] ?? "";
    async function watch(address: string, { width = 1200, height = 900 } = {}): Promise<Page> {
      const viewer = await person.newPage({ viewport: { width, height } });
      await viewer.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await viewer.goto(address);
      await viewer.waitForSelector("body.showing");
      return viewer;
    }
    const placeOf = async (viewer: Page) => {
      const box = await viewer.locator("#screen").boundingBox();
      if (box === null) throw new Error("The page has no picture.");
      return box;
    };
    const seen = () => page.evaluate(() => (globalThis as unknown as { seen: unknown[][] }).seen.splice(0));
    const field = () => page.evaluate(() => document.querySelector("textarea")?.value);
    const clear = () =>
      page.evaluate(() => {
        const found = document.querySelector("textarea");
        if (found) found.value = "";
        found?.focus();
        scrollTo(0, 0);
      });

    it("passes on clicks at their exact position, also in a scaled picture", async () => {
      const viewer = await watch(await addressOf());
      const { x, y, width } = await placeOf(viewer);
      expect(width).toBe(size.width);
      await seen();
      await viewer.mouse.dblclick(x + 701, y + 402);
      await viewer.mouse.click(x + 500, y + 300, { button: "right" });
      let all: unknown[][] = [];
      await expect
        .poll(async () =>
          (all = [...all, ...(await seen())]).filter(([type]) => type !== "mousedown" && type !== "mouseup"),
        )
        .toEqual([
          ["click", 701, 402, 0],
          ["click", 701, 402, 0],
          ["dblclick", 701, 402, 0],
          ["contextmenu", 500, 300, 2],
        ]);
      await viewer.setViewportSize({ width: 450, height: 700 });
      await expect.poll(async () => (await placeOf(viewer)).width).toBe(450);
      const small = await placeOf(viewer);
      await viewer.mouse.click(small.x + 350, small.y + 100);
      await expect.poll(async () => (await seen()).find(([type]) => type === "click")).toEqual(["click", 700, 200, 0]);
      await viewer.close();
    });

    it("passes on keys, text of input methods, and the wheel", async () => {
      const viewer = await watch(await addressOf());
      const { x, y } = await placeOf(viewer);
      await clear();
      await viewer.mouse.click(x + 100, y + 50);
      await viewer.keyboard.type("Hello, é!");
      await viewer.keyboard.press("Enter");
      const keyboard = await viewer.context().newCDPSession(viewer);
      await keyboard.send("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
      await expect.poll(field).toBe("Hello, é!\nにほ");
      await keyboard.send("Input.insertText", { text: "日本" });
      await expect.poll(field).toBe("Hello, é!\n日本");
      await viewer.keyboard.press("Control+a");
      await viewer.keyboard.press("Backspace");
      await expect.poll(field).toBe("");
      await viewer.mouse.move(x + 600, y + 400);
      await viewer.mouse.wheel(0, 300);
      await expect.poll(() => page.evaluate(() => scrollY)).toBe(300);
      await viewer.close();
    });

    it("shares the clipboard in both directions", async () => {
      const viewer = await watch(await addressOf());
      const { x, y } = await placeOf(viewer);
      await clear();
      await viewer.mouse.click(x + 100, y + 50);
      await viewer.evaluate(() => navigator.clipboard.writeText("from the person"));
      await viewer.keyboard.press("Control+v");
      await expect.poll(field).toBe("from the person");
      await page.evaluate(() => {
        const found = document.querySelector("textarea");
        if (found) found.value = "from the session";
        found?.select();
      });
      await viewer.keyboard.press("Control+c");
      await expect.poll(() => viewer.evaluate(() => navigator.clipboard.readText())).toBe("from the session");
      await viewer.close();
    });

    it("lists, opens, shows and closes pages, and navigates", async () => {
      const { url } = site;
      const viewer = await watch(await addressOf());
      await viewer.waitForSelector("#tab-list .shown");
      await viewer.click("#open-tab");
      await expect.poll(() => viewer.locator("#tab-list li").count()).toBe(2);
      await viewer.fill("#address", `${url.replace("http://", "")}one`);
      await viewer.press("#address", "Enter");
      await viewer.waitForSelector("#tab-list .shown >> text=/one");
      await viewer.fill("#address", `${url}two`);
      await viewer.press("#address", "Enter");
      await viewer.waitForSelector("#tab-list .shown >> text=/two");
      await viewer.click("#back");
      await viewer.waitForSelector("#tab-list .shown >> text=/one");
      await expect.poll(() => viewer.title()).toBe("/one · Live view");
      await viewer.click("#tab-list .name >> text=recording");
      await viewer.waitForSelector("#tab-list .shown >> text=recording");
      await viewer.click('#tab-list [aria-label="Close /one"]');
      await expect.poll(() => viewer.locator("#tab-list li").count()).toBe(1);
      await viewer.close();
    });

    it("ignores all input of read-only viewers", async () => {
      const [readOnly, control] = [await addressOf("browser_live_view_read_only_url"), await addressOf()];
      await clear();
      const both = await Promise.all([watch(readOnly), watch(`${control}?readOnly=true`)]);
      for (const viewer of both) {
        await viewer.waitForSelector("#read-only:visible");
        await expect.poll(() => viewer.locator("#viewers").textContent()).toBe("2 watching");
        expect(await viewer.locator("#open-tab").isVisible()).toBe(false);
        const { x, y } = await placeOf(viewer);
        await seen();
        // It disappears automatically after some seconds.
        const noticed = viewer.waitForSelector("#notice:visible");
        await viewer.mouse.click(x + 50, y + 50);
        await noticed;
      }
      // Without the page, at the same address.
      const socket = new WebSocket(`${readOnly.replace("http", "ws")}/socket?readOnly=false&mode=control`);
      const notices: string[] = [];
      socket.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (typeof data === "string" && data.includes("notice")) notices.push(data);
      };
      await new Promise((resolve) => {
        socket.onopen = resolve;
      });
      socket.send(JSON.stringify({ type: "text", text: "never" }));
      socket.send(JSON.stringify({ type: "open_tab" }));
      await expect.poll(() => notices.length).toBe(2);
      socket.close();
      expect([await seen(), await field(), client.contexts()[0]?.pages().length]).toEqual([[], "", 1]);
      await Promise.all(both.map((viewer) => viewer.close()));
    });

    it("enlarges under two fingers on a phone, so that a tap hits a check box, and one finger moves and scrolls", async () => {
      const box = "position:absolute;left:700px;top:400px;margin:0";
      await page.setContent(`<body style="margin:0;height:3000px"><input type="checkbox" style="${box}">`);
      const phone = await person.newPage({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
      await phone.goto(await addressOf());
      await phone.waitForSelector("body.showing");
      const fingers = await phone.context().newCDPSession(phone);
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...points: readonly [number, number][]) =>
        fingers.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
      const drag = async (from: readonly [number, number], x: number, y: number) => {
        await touch("touchStart", [...from]);
        await touch("touchMove", [from[0] + x / 2, from[1] + y / 2]);
        await touch("touchMove", [from[0] + x, from[1] + y]);
        await touch("touchEnd");
      };
      await expect.poll(async () => (await placeOf(phone)).width).toBe(390);
      const small = await placeOf(phone);
      const [x, y] = [small.x + (706 / size.width) * small.width, small.y + (406 / size.height) * small.height];

      await touch("touchStart", [x - 10, y], [x + 10, y]);
      await touch("touchMove", [x - 25, y], [x + 25, y]);
      await touch("touchMove", [x - 40, y], [x + 40, y]);
      await touch("touchEnd");
      await expect.poll(async () => (await placeOf(phone)).width).toBeCloseTo(4 * 390, 0);
      const large = await placeOf(phone);
      // The check box is 22 instead of 5.6 pixels wide, and still below the fingers from left to right.
      const [left, top] = [large.x + 700 * (large.width / size.width), large.y + 400 * (large.height / size.height)];
      expect(Math.abs(left - x)).toBeLessThan(20);
      await touch("touchStart", [left + 18, top + 18]);
      await touch("touchEnd");
      await expect.poll(() => page.locator("input").isChecked()).toBe(true);

      await drag([200, 500], 100, 0);
      await expect.poll(async () => (await placeOf(phone)).x).toBeCloseTo(large.x + 100, 0);
      expect(await page.evaluate(() => scrollY)).toBe(0);

      await touch("touchStart", [100, 500], [300, 500]);
      await touch("touchMove", [195, 500], [205, 500]);
      await touch("touchEnd");
      await expect.poll(() => placeOf(phone)).toEqual(small);
      await drag([x, y + 50], 0, -80);
      await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(100);
      expect(await placeOf(phone)).toEqual(small);
      await phone.close();
      await page.setContent(recording);
    });

    it("shows a browser leased from a pool", async () => {
      const pool = await test.shoal.browserPools.create({ size: 1, headless: true });
      const leased = await test.shoal.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
      const viewer = await watch(leased?.browser_live_view_url ?? "");
      await viewer.close();
      await test.shoal.browserPools.delete(pool.id, { force: true });
    });

    it("is found by the hosted service's SDK", async () => {
      const { baseUrl, apiKey } = test.service;
      const found = await new Kernel({ baseURL: baseUrl, apiKey }).browsers.retrieve(session.id);
      expect((await fetch(found.browser_live_view_url ?? "")).status).toBe(200);
    });

    it("keeps the page's size while a viewer watches, unless a change is forced", async () => {
      const { browsers } = test.shoal;
      const sizeOf = async () => (await browsers.get(session.id)).viewport;
      const viewer = await watch(await addressOf("browser_live_view_read_only_url"));
      const refusal = await refusalOf(browsers.update(session.id, { viewport: { width: 700, height: 500 } }));
      expect(refusal).toMatchObject({
        status: 409,
        code: "conflict",
        message: expect.stringMatching(/body\.viewport: this session's live view has viewers.*force: true/) as unknown,
      });
      expect([await sizeOf(), await page.evaluate(() => [innerWidth, innerHeight])]).toMatchObject([
        size,
        [size.width, size.height],
      ]);
      await browsers.update(session.id, { viewport: { width: 700, height: 500, force: true } });
      expect(await sizeOf()).toMatchObject({ width: 700, height: 500 });
      await expect.poll(async () => (await placeOf(viewer)).width).toBe(700);
      await viewer.close();
      // The service notices a moment later.
      await eventually("it may be changed again", () =>
        browsers.update(session.id, { viewport: size }).then(
          () => true,
          () => false,
        ),
      );
      expect(await sizeOf()).toMatchObject(size);
    });

    it("keeps the session in use while a viewer watches", async () => {
      const isIdle = async () => (await test.shoal.browsers.get(session.id)).expires_at !== undefined;
      await client.close();
      await expect.poll(isIdle).toBe(true);
      const viewer = await watch(await addressOf("browser_live_view_read_only_url"));
      await expect.poll(isIdle).toBe(false);
      await viewer.close();
      await expect.poll(isIdle).toBe(true);
      client = await chromium.connectOverCDP((await test.shoal.browsers.get(session.id)).cdp_ws_url);
      page = await firstPageOf(client);
    });

    it("reconnects after a lost connection", async () => {
      await using proxy = await startCuttingProxy(test.service.baseUrl);
      const address = await addressOf();
      const viewer = await watch(address.replace(test.service.baseUrl, proxy.baseUrl));
      // The page may connect again before a look from outside.
      const lost = await viewer.evaluateHandle(() => {
        const seen = { lost: false };
        const look = () => (seen.lost ||= !document.body.classList.contains("showing"));
        new MutationObserver(look).observe(document.body, { attributes: true });
        return seen;
      });
      proxy.cut();
      await expect.poll(() => lost.evaluate((seen) => seen.lost)).toBe(true);
      await viewer.waitForSelector("body.showing");
      await clear();
      const { x, y } = await placeOf(viewer);
      await viewer.mouse.click(x + 100, y + 50);
      await viewer.keyboard.type("again");
      await expect.poll(field).toBe("again");
      await viewer.close();
    });

    it("refuses invalid addresses, without logging them", async () => {
      const address = await addressOf();
      const token = new URL(address).pathname.split("/").pop() ?? "";
      const cdp = new URL((await test.shoal.browsers.get(session.id)).cdp_ws_url).searchParams.get("jwt") ?? "";
      for (const wrong of [
        "x",
        cdp,
        `${token}x`,
        token.replace(/^./, (letter) => (letter === "a" ? "b" : "a")),
        token.replace(".c", ".w"),
      ]) {
        const answer = await fetch(`${test.service.baseUrl}/browser/live/${wrong}`);
        const text = await answer.text();
        expect([answer.status, answer.headers.get("content-type"), text]).toEqual([
          401,
          "text/html; charset=utf-8",
          expect.stringContaining("is invalid or has expired"),
        ]);
        // People read this page: it names no operations of the API.
        expect(text).toContain("ask for a new one");
        expect(text).not.toMatch(/browsers\.|_url/);
        const socket = new WebSocket(`${test.service.baseUrl.replace("http", "ws")}/browser/live/${wrong}/socket`);
        await new Promise((resolve) => {
          socket.onerror = resolve;
        });
      }
      const answer = await fetch(address);
      expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors *");
    });

    it("shows that the browser restarts, and that the session has ended", async () => {
      const address = await addressOf();
      const viewer = await watch(address);
      const running = () => chromiums(test.processes());
      // The pool's browser may still be ending.
      const killed = await eventually("no other browser runs", () =>
        running().length === 1 ? running()[0] : undefined,
      );
      const covers = await viewer.evaluateHandle(() => {
        const texts: string[] = [];
        const title = document.querySelector("#cover-title");
        if (title === null) throw new Error("The page has no cover.");
        const look = () => texts.push(title.textContent);
        new MutationObserver(look).observe(title, { childList: true, characterData: true, subtree: true });
        return texts;
      });
      process.kill(killed.pid, "SIGKILL");
      await expect.poll(() => covers.evaluate((texts) => texts.join())).toContain("The browser is restarting");
      await viewer.waitForSelector("body.showing");
      await eventually("a page is listed again", async () => (await viewer.locator("#tab-list .shown").count()) === 1);
      const other = await test.shoal.browsers.create();
      await test.shoal.browsers.replays.start(other.session_id);
      const watched = await watch(other.browser_live_view_url ?? "");
      const second = await watch(other.browser_live_view_url ?? "");
      await watched.waitForSelector("text=2 watching");
      const link = await test.shoal.browsers.liveViewLinks.create(other.session_id, { scope: "view" });
      await test.shoal.browsers.delete(other.session_id);
      await watched.waitForSelector("text=The session has ended");
      await watched.waitForSelector("text=It was deleted.");
      await watched.locator("#viewers").waitFor({ state: "hidden" });
      const film = await watched.getByRole("link", { name: "Watch its recording" }).evaluate(hrefOf);
      const [replay] = await test.shoal.browsers.replays.list(other.session_id);
      expect(film).toBe(replay?.replay_view_url);
      const gone = await watched.goto(other.browser_live_view_url ?? "");
      expect(gone?.status()).toBe(404);
      await watched.waitForSelector("text=The session has ended");
      expect(await watched.getByRole("link", { name: "Watch its recording" }).evaluate(hrefOf)).toBe(film);
      // A person's link shows the session, and not its recordings.
      await watched.goto(link.url);
      await watched.waitForSelector("text=The session has ended");
      expect(await watched.getByRole("link").count()).toBe(0);
      await second.close();
      expect(
        (await test.shoal.browsers.get(other.session_id, { include_deleted: true })).browser_live_view_url,
      ).toBeUndefined();
      await viewer.close();
      await watched.close();
    });
  });
});
