import Kernel from "@onkernel/sdk";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { usePage } from "../testing/page.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

const recorder = `<!doctype html><meta charset=utf-8><style>body{margin:0;height:3000px}textarea{position:absolute;left:10px;top:10px;width:300px;height:100px}</style>
<textarea id=field></textarea><script>
globalThis.seen = [];
for (const type of ["mousedown", "dblclick", "wheel", "keydown"]) addEventListener(type, (event) => seen.push([type, event.clientX ?? event.key, event.clientY ?? event.code, event.isTrusted].join(" ")));
</script>`;

describe.each(placements)("computer controls in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test, { viewport: { width: 1024, height: 768 } });
    let page: Page;
    usePage(test, session, (found) => {
      page = found;
    });
    const fresh = async () => {
      await page.setContent(recorder);
      await page.evaluate("field.focus()");
    };
    const seen = () => page.evaluate("seen.splice(0)");
    const value = () => page.evaluate("field.value");

    it("supports all twelve operations", async () => {
      await fresh();
      const { computer } = test.shoal.browsers;
      const { id } = session;
      await computer.clickMouse(id, { x: 500, y: 301, num_clicks: 2 });
      expect(await seen()).toEqual(["mousedown 500 301 true", "mousedown 500 301 true", "dblclick 500 301 true"]);
      await computer.moveMouse(id, { x: 600, y: 400, duration_ms: 100 });
      expect(await computer.getMousePosition(id)).toEqual({ x: 600, y: 400 });
      await computer.clickMouse(id, { x: 100, y: 50 });
      await seen();
      await computer.typeText(id, { text: "Grüße 😀" });
      await computer.pressKey(id, { keys: ["Return"] });
      expect(await value()).toBe("Grüße 😀\n");
      expect(await seen()).toContain("keydown Enter Enter true");
      await computer.pressKey(id, { keys: ["Ctrl+a", "Ctrl+c"] });
      expect(await computer.readClipboard(id)).toEqual({ text: "Grüße 😀\n" });
      await computer.writeClipboard(id, { text: "from outside" });
      await computer.pressKey(id, { keys: ["Ctrl+v"] });
      expect(await value()).toBe("from outside");
      await computer.scroll(id, { x: 500, y: 500, delta_y: 2 });
      await page.waitForFunction("scrollY === 240");
      await computer.dragMouse(id, {
        path: [
          [400, 300],
          [500, 400],
        ],
        duration_ms: 100,
      });
      expect(await computer.setCursorVisibility(id, { hidden: true })).toEqual({ ok: true });
      const png = Buffer.from(
        await new Response(
          (await computer.captureScreenshot(id, { region: { x: 10, y: 20, width: 300, height: 200 } })).stream,
        ).arrayBuffer(),
      );
      expect([png.toString("latin1", 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual(["PNG", 300, 200]);
      await computer.batch(id, {
        actions: [
          { type: "move_mouse", move_mouse: { x: 5, y: 6, smooth: false } },
          { type: "sleep", sleep: { duration_ms: 10 } },
        ],
      });
      expect(await computer.getMousePosition(id)).toEqual({ x: 5, y: 6 });
    });

    it("reports refused actions, and where a batch stopped", async () => {
      await fresh();
      const { computer } = test.shoal.browsers;
      expect((await refusalOf(computer.clickMouse(session.id, { x: 1024, y: 5 }))).message).toContain(
        "body.x: 1024 is outside of the page, which is 1024 × 768 pixels",
      );
      expect((await refusalOf(computer.pressKey(session.id, { keys: ["NoSuchKey"] }))).message).toContain(
        "body.keys[0]: unknown key",
      );
      const batch = computer.batch(session.id, {
        actions: [
          { type: "click_mouse", click_mouse: { x: 500, y: 300 } },
          { type: "click_mouse", click_mouse: { x: -1, y: 300 } },
        ],
      });
      await expect(batch).rejects.toMatchObject({ status: 400, fields: { failed_action: 1 } });
      expect(await seen()).toEqual(["mousedown 500 300 true"]);
    });

    it("works while a client leaves a dialog open", async () => {
      await fresh();
      const { computer } = test.shoal.browsers;
      const opened = page.waitForEvent("dialog");
      // With a listener, Playwright does not close the dialog.
      page.once("dialog", () => undefined);
      await page.evaluate("onclick = () => { globalThis.answer = confirm('?') }, undefined");
      await computer.clickMouse(session.id, { x: 500, y: 300 });
      await opened;
      expect((await refusalOf(computer.typeText(session.id, { text: "x" }))).status).toBe(409);
      expect(
        (await (await computer.captureScreenshot(session.id)).stream.getReader().read()).value?.length,
      ).toBeGreaterThan(100);
      await computer.pressKey(session.id, { keys: ["Return"] });
      await page.waitForFunction("answer === true");
    });

    it("answers the hosted service's SDK", async () => {
      await fresh();
      const { computer } = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl }).browsers;
      const { id } = session;
      await computer.clickMouse(id, { x: 100, y: 50, button: "left", click_type: "click", hold_keys: ["Shift"] });
      await computer.typeText(id, { text: "sdk", delay: 1 });
      await computer.pressKey(id, { keys: ["Ctrl+a"], duration: 10 });
      await computer.pressKey(id, { keys: ["Ctrl+c"] });
      expect((await computer.readClipboard(id)).text).toBe("sdk");
      await computer.writeClipboard(id, { text: "written" });
      await computer.moveMouse(id, { x: 200, y: 200, smooth: true, duration_ms: 60 });
      expect(await computer.getMousePosition(id)).toEqual({ x: 200, y: 200 });
      await computer.scroll(id, { x: 300, y: 300, delta_x: 0, delta_y: 1 });
      await computer.dragMouse(id, {
        path: [
          [300, 300],
          [310, 310],
        ],
        smooth: false,
        steps_per_segment: 2,
        step_delay_ms: 1,
      });
      expect((await computer.setCursorVisibility(id, { hidden: false })).ok).toBe(true);
      await computer.batch(id, {
        actions: [
          { type: "type_text", type_text: { text: "!" } },
          { type: "sleep", sleep: { duration_ms: 1 } },
        ],
      });
      const shot = await computer.captureScreenshot(id);
      const png = Buffer.from(await shot.arrayBuffer());
      expect([shot.headers.get("content-type"), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
        "image/png",
        1024,
        768,
      ]);
    });
  });
});
