import Kernel from "@onkernel/sdk";
import type { Page } from "playwright-core";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { usePage } from "../testing/page.ts";
import { play, recordedRed } from "../testing/play-film.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

const moving = `<!doctype html><body style="margin:0"><script>
let step = 0;
setInterval(() => { document.body.style.background = "hsl(" + (step++ * 7) % 360 + " 80% 50%)" }, 40);
</script>`;

describe.each(placements)("recordings in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test, { viewport: { width: 800, height: 600 } });
    let page: Page;
    usePage(test, session, (found) => {
      page = found;
    });

    it("plays in a browser with its full duration", async () => {
      const { replays } = test.shoal.browsers;
      await page.setContent(moving);
      const { replay_id: id } = await replays.start(session.id, { framerate: 15 });
      const short = await replays.start(session.id, { max_duration_in_seconds: 1 });
      // The film is longer than the short one.
      await expect
        .poll(async () => (await replays.list(session.id)).map(({ finished_at }) => finished_at ?? "none"))
        .toEqual(["none", expect.stringMatching(/Z$/)]);
      await replays.stop(session.id, id);
      const film = await buffer(Readable.from((await replays.download(session.id, id)).stream));
      await replays.download(session.id, short.replay_id).then(({ stream }) => stream.cancel());
      const known = await replays.list(session.id);
      expect(known.map(({ replay_id }) => replay_id)).toEqual([id, short.replay_id]);
      const [wall, cut] = known.map(
        ({ started_at, finished_at }) => (Date.parse(finished_at ?? "") - Date.parse(started_at ?? "")) / 1000,
      );
      const played = await play(page, film);
      expect(played).toMatchObject({ width: 800, height: 600 });
      expect(Math.abs(played.seconds - (wall ?? 0))).toBeLessThan(1);
      expect(cut).toBeGreaterThan(0.5);
      expect(cut).toBeLessThan(wall ?? 0);
    });

    it("follows the page in front", async () => {
      const { replays } = test.shoal.browsers;
      await page.setContent("<body style='background:lime'>");
      const { replay_id: id, replay_view_url: url = "" } = await replays.start(session.id);
      const second = await page.context().newPage();
      await second.setContent("<body style='background:red'>");
      await recordedRed(second, url);
      await replays.stop(session.id, id);
      const film = await buffer(Readable.from((await replays.download(session.id, id)).stream));
      await second.close();
      const [red = 0, green = 0] = (await play(page, film)).last;
      expect([red > 200, green < 60]).toEqual([true, true]);
    });

    it("outlives its session, and reports unknown recordings", async () => {
      const { browsers } = test.shoal;
      const { session_id: id } = await browsers.create({ timeout_seconds: 600, viewport: { width: 640, height: 480 } });
      const { replay_id: replayId } = await browsers.replays.start(id);
      await browsers.delete(id);
      const film = await buffer(Readable.from((await browsers.replays.download(id, replayId)).stream));
      expect(film.toString("latin1", 4, 8)).toBe("ftyp");
      expect((await play(page, film)).width).toBe(640);
      expect((await browsers.replays.list(id))[0]).toMatchObject({
        replay_id: replayId,
        finished_at: expect.any(String) as string,
      });
      expect((await refusalOf(browsers.replays.start(id))).status).toBe(404);
      expect((await refusalOf(browsers.replays.stop(id, "0".repeat(24)))).status).toBe(404);
    });

    it("answers the hosted service's SDK", async () => {
      const { replays } = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl }).browsers;
      const { replay_id: id } = await replays.start(session.id, { framerate: 5, max_duration_in_seconds: 60 });
      expect((await replays.list(session.id)).map(({ replay_id }) => replay_id)).toContain(id);
      expect((await replays.download(id, { id: session.id })).status).toBe(202);
      await replays.stop(id, { id: session.id });
      await expect.poll(async () => (await replays.download(id, { id: session.id })).status).toBe(200);
      const film = Buffer.from(await (await replays.download(id, { id: session.id })).arrayBuffer());
      expect(film.toString("latin1", 4, 8)).toBe("ftyp");
    });
  });
});
