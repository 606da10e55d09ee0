import { examineHost } from "@shoal/placement";
import { eventually } from "@shoal/testkit";
import { chromium, type Browser, type Page } from "playwright-core";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { recordedRed } from "../testing/play-film.ts";
import { useService } from "../testing/service.ts";

const { chromium: installed } = await examineHost();

/** The colour of the film's centre at a time. */
function colourAt(viewer: Page, seconds: number): Promise<string> {
  return viewer.evaluate(async (at) => {
    const film = document.querySelector("video");
    if (film === null) throw new Error("The page has no film.");
    const sought = new Promise((resolve) => {
      film.onseeked = resolve;
    });
    film.currentTime = at;
    await sought;
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context?.drawImage(film, 0, 0, 1, 1);
    const [red = 0, green = 0] = context?.getImageData(0, 0, 1, 1).data ?? [];
    return red > 128 ? "red" : green > 128 ? "lime" : "other";
  }, seconds);
}

describe.each(placements)("the page of a recording in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("after its session", () => {
    const test = useService(() => ["--placement", placement]);
    let person: Browser;
    beforeAll(async () => {
      person = await chromium.launch({
        executablePath: installed?.executable ?? "",
        chromiumSandbox: process.getuid?.() !== 0,
      });
    });
    afterAll(async () => {
      await person.close();
    });

    it("plays, seeks, has chapters, and aligns with telemetry", async () => {
      const { browsers } = test.shoal;
      const { session_id: id } = await browsers.create({
        viewport: { width: 320, height: 240 },
        telemetry: { browser: { console: { enabled: true } } },
        start_url: "data:text/html,<body style='background:lime'>",
      });
      await eventually(
        "the first page is there",
        async () => (await browsers.playwright.execute(id, { code: "return page.url()" })).result !== "about:blank",
      );
      const {
        replay_id: replayId,
        replay_view_url: url = "",
        clock,
      } = await browsers.replays.start(id, { framerate: 10 });
      const viewer = await person.newPage();
      await viewer.goto(url);
      await viewer.waitForSelector("text=Recording in progress");
      // The film is about these times.
      const filmedMs = 2500;
      await delay(filmedMs);
      await browsers.playwright.execute(id, {
        code: "await page.evaluate(() => { document.body.style.background = 'red'; console.log('turned red'); })",
      });
      const mark = await browsers.replays.mark(id, replayId, { title: "It is <red>" });
      const player = await person.newPage();
      const redBy = await recordedRed(player, url);
      await player.close();
      await browsers.replays.mark(id, replayId, { title: "The beginning", offset_seconds: 0 });
      await browsers.replays.stop(id, replayId);
      await browsers.delete(id);

      const events = await browsers.telemetry.events(id, {});
      const said = events.items.find(({ event }) => event.type === "console_log");
      const turnedAt = ((said?.event.ts ?? 0) - (clock?.started_ts ?? 0)) / 1_000_000;
      expect(turnedAt).toBeGreaterThan(1.5);
      expect(turnedAt).toBeLessThan(mark.offset_seconds + 0.1);

      await viewer.waitForSelector("video:visible");
      const seconds = await eventually("the whole film is known", () =>
        viewer
          .evaluate(() => {
            const { duration = 0, src = "" } = document.querySelector("video") ?? {};
            return src.endsWith("/film") && duration;
          })
          .then((found) => Number.isFinite(found) && found),
      );
      // A busy machine draws late, but never early.
      expect(redBy).toBeGreaterThan(turnedAt - 1);
      expect(seconds).toBeGreaterThanOrEqual(redBy);
      expect(await colourAt(viewer, turnedAt - 1)).toBe("lime");
      expect(await colourAt(viewer, redBy)).toBe("red");
      const chapters = viewer.getByRole("list", { name: "Chapters" }).getByRole("button");
      await expect
        .poll(() => chapters.allTextContents())
        .toEqual(["00:00The beginning", expect.stringContaining("It is <red>")]);
      const played = () =>
        viewer.evaluate(() => {
          const { played: ranges } = document.querySelector("video") ?? {};
          return ranges === undefined || ranges.length === 0 ? undefined : ranges.start(0);
        });
      // The page has followed the recording, from a later moment.
      expect(await played()).not.toBe(0);
      await chapters.first().click();
      await expect.poll(played).toBe(0);
      expect(
        await viewer.evaluate(() => [...(document.querySelector("video")?.textTracks ?? [])].map(({ kind }) => kind)),
      ).toEqual(["chapters"]);
      await viewer.close();
    });
  });
});
