import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Figure } from "../measuring/figures.ts";
import { cpuMs, descendants, proportionalBytes } from "../measuring/processes.ts";

const framerate = 15;
const page = `data:text/html,${encodeURIComponent(`<!doctype html><body style="margin:0"><canvas id=c width=1280 height=800></canvas><script>
const context = c.getContext("2d");
let step = 0;
(function draw() {
  context.fillStyle = "hsl(" + step % 360 + " 60% 50%)";
  context.fillRect((step * 13) % 1280, (step * 7) % 800, 200, 200);
  context.fillStyle = "white";
  context.fillText("step " + step++, 20, 20);
  requestAnimationFrame(draw);
})();
</script>`)}`;

interface Share {
  readonly chromium: number;
  readonly encoder: number;
  readonly node: number;
}

/** Measures the CPU of each process while a busy page of 1280×800 is recorded. */
export async function measureReplays(seconds: number): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const service = await startService(folder, ["--warm", "0", "--log-level", "warn"]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { session_id: id } = await shoal.browsers.create({
      timeout_seconds: 3600,
      viewport: { width: 1280, height: 800 },
      start_url: page,
    });
    const isEncoder = (command: string) => command.includes("/replays/encoder-");
    const take = (): { share: Share; bytes: number } => {
      const share = { chromium: 0, encoder: 0, node: cpuMs(service.pid) };
      let bytes = 0;
      // An encoder and its children have its folder in their command line, or a parent that has.
      const encoders = new Set(
        descendants(service.pid)
          .filter(({ command }) => isEncoder(command))
          .flatMap(({ pid }) => [pid, ...descendants(pid).map((child) => child.pid)]),
      );
      for (const { pid, command } of descendants(service.pid)) {
        if (command.includes("postgres")) continue;
        const kind = encoders.has(pid)
          ? "encoder"
          : /chrom|headless/.test(command.split(" ")[0] ?? "")
            ? "chromium"
            : "node";
        share[kind] += cpuMs(pid);
        if (kind === "encoder") bytes += proportionalBytes(pid);
      }
      return { share, bytes };
    };
    const over = async (): Promise<{ share: Share; bytes: number }> => {
      const [began, before] = [performance.now(), take().share];
      await delay(seconds * 1000);
      const { share: after, bytes } = take();
      const percent = (kind: keyof Share) => ((after[kind] - before[kind]) / (performance.now() - began)) * 100;
      return { share: { chromium: percent("chromium"), encoder: percent("encoder"), node: percent("node") }, bytes };
    };
    await delay(1000);
    const plain = await over();
    const { replay_id: replayId } = await shoal.browsers.replays.start(id, { framerate });
    await delay(1000);
    const recorded = await over();
    await shoal.browsers.replays.stop(id, replayId);
    const film = await new Response((await shoal.browsers.replays.download(id, replayId)).stream).arrayBuffer();
    await shoal.browsers.delete(id);
    const baseline = { peer: plain.share.chromium, peerName: "the browser, not recorded" };
    return [
      {
        name: `the browser, recorded at ${String(framerate)} fps`,
        unit: "% of a core",
        ours: recorded.share.chromium,
        ...baseline,
      },
      { name: "the encoder's browser", unit: "% of a core", ours: recorded.share.encoder, ...baseline },
      {
        name: "service and instance",
        unit: "% of a core",
        ours: recorded.share.node,
        peer: plain.share.node,
        peerName: "not recorded",
      },
      { name: "memory of the encoder's browser (PSS)", unit: "MB", ours: recorded.bytes / 2 ** 20 },
      { name: "a second of film", unit: "kB", ours: film.byteLength / 1000 / (seconds + 1) },
    ];
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
