import Kernel from "@onkernel/sdk";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { usePage } from "../testing/page.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

describe.each(placements)("the viewport in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of a running session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test, { viewport: { width: 1000, height: 700 } });
    let page: Page;
    usePage(test, session, (found) => {
      page = found;
    });
    const sized = (where: Page, width: number, height: number) =>
      where.waitForFunction(
        `innerWidth === ${String(width)} && innerHeight === ${String(height)} && screen.width === ${String(width)} && matchMedia("(width: ${String(width)}px)").matches`,
      );

    it("changes, also for later tabs, and is shown", async () => {
      await sized(page, 1000, 700);
      const changed = await test.shoal.browsers.update(session.id, { viewport: { width: 640, height: 480 } });
      expect(changed.viewport).toEqual({ width: 640, height: 480 });
      await sized(page, 640, 480);
      const opened = page.waitForEvent("popup");
      await page.evaluate("void open('about:blank')");
      const popup = await opened;
      await sized(popup, 640, 480);
      await popup.close();
      // Without a window Chromium always draws 60 times a second; the answer shows the effective rate.
      await test.shoal.browsers.update(session.id, { viewport: { width: 1280, height: 800, refresh_rate: 25 } });
      expect((await test.shoal.browsers.get(session.id)).viewport).toEqual({
        width: 1280,
        height: 800,
        refresh_rate: 60,
      });
      await sized(page, 1280, 800);
    });

    it("stays during a recording, unless a change may end it and start another", async () => {
      const { browsers } = test.shoal;
      const { replay_id: first } = await browsers.replays.start(session.id, { framerate: 5 });
      const refusal = await refusalOf(
        browsers.update(session.id, { name: "renamed", viewport: { width: 800, height: 600 } }),
      );
      expect([refusal.status, refusal.message]).toEqual([409, expect.stringContaining("force: true") as unknown]);
      expect(await browsers.get(session.id)).toMatchObject({ viewport: { width: 1280, height: 800 } });
      expect(await browsers.get(session.id)).not.toHaveProperty("name");
      await browsers.update(session.id, { viewport: { width: 800, height: 600, force: true } });
      await sized(page, 800, 600);
      const replays = await browsers.replays.list(session.id);
      expect(replays.map(({ replay_id }) => replay_id === first)).toEqual([true, false]);
      await expect
        .poll(async () => (await browsers.replays.list(session.id)).map(({ finished_at }) => finished_at == null))
        .toEqual([false, true]);
      await browsers.replays.stop(session.id, replays[1]?.replay_id ?? "");
      await expect
        .poll(async () => (await browsers.replays.list(session.id)).map(({ finished_at }) => finished_at == null))
        .toEqual([false, false]);
    });

    it("has limits, and can be changed with the hosted service's SDK", async () => {
      const refusal = await refusalOf(
        test.shoal.browsers.update(session.id, { viewport: { width: 16_385, height: 600 } }),
      );
      expect([refusal.status, refusal.message]).toEqual([
        400,
        expect.stringContaining("body.viewport.width: expected at most 16384") as unknown,
      ]);
      const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      const changed = await kernel.browsers.update(session.id, { viewport: { width: 900, height: 650 } });
      expect(changed.viewport).toEqual({ width: 900, height: 650 });
      await sized(page, 900, 650);
    });
  });
});
